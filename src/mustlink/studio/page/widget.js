// src/protocol.ts
var e = 65535;
function t(e) {
	let t = e instanceof DataView ? e : new DataView(e);
	if (t.byteLength < 16) throw Error(`A binary message has ${t.byteLength} bytes; its header alone has 16.`);
	let n = t.getUint32(0, !0), r = t.getUint32(4, !0), i = t.getUint32(8, !0), a = t.getUint32(12, !0), o = t.byteOffset + 16, s = t.buffer.slice(o, t.byteOffset + t.byteLength), c = (e) => {
		if (s.byteLength !== a * e) throw Error(`A binary message of kind ${n} announces ${a} items of ${e} bytes, and has ${s.byteLength} bytes.`);
	}, l = {
		revision: r,
		view: i
	};
	switch (n) {
		case 1: return c(8), {
			kind: "positions",
			...l,
			values: new Float32Array(s)
		};
		case 2: return c(2), {
			kind: "labels",
			...l,
			values: new Uint16Array(s)
		};
		case 3: return c(1), {
			kind: "confidence",
			...l,
			values: new Uint8Array(s)
		};
		case 4: return c(8), {
			kind: "edges",
			...l,
			values: new Uint32Array(s)
		};
		default: throw Error(`A binary message has the unknown kind ${n}.`);
	}
}
// src/connection.ts
var n = "The connection to the studio is lost; trying again.", r = class {
	next;
	status = "connecting";
	statusText = "";
	listeners = /* @__PURE__ */ new Set();
	pending = /* @__PURE__ */ new Map();
	constructor(e = 1) {
		this.next = e;
	}
	send(e) {
		this.transmit({
			id: this.next++,
			...e
		});
	}
	request(e) {
		let t = this.next++;
		return new Promise((n, r) => {
			if (this.status !== "open") r(/* @__PURE__ */ Error("There is no connection to the studio; nothing was sent."));
			else {
				this.pending.set(t, {
					resolve: n,
					reject: r
				});
				try {
					this.transmit({
						id: t,
						...e
					});
				} catch (e) {
					this.pending.delete(t), r(e instanceof Error ? e : Error(String(e)));
				}
			}
		});
	}
	on(e) {
		return this.listeners.add(e), e.status?.(this.status, this.statusText), () => this.listeners.delete(e);
	}
	receiveMessage(e) {
		for (let t of this.listeners) t.message?.(e);
		if ("id" in e && e.id !== null) {
			let t = this.pending.get(e.id);
			t && (this.pending.delete(e.id), e.type === "error" ? t.reject(Error(e.message)) : t.resolve(e));
		}
	}
	receiveBytes(e) {
		let n = t(e);
		for (let e of this.listeners) e.buffer?.(n);
	}
	setStatus(e, t = "") {
		if (this.status = e, this.statusText = t, e !== "open") {
			let e = [...this.pending.values()];
			this.pending.clear();
			for (let t of e) t.reject(/* @__PURE__ */ Error("The connection to the studio was lost before the answer came."));
		}
		for (let n of this.listeners) n.status?.(e, t);
	}
}, i = "http://www.w3.org/2000/svg", a = 0;
function o(e) {
	return a += 1, `mustlink-${e}-${a}`;
}
function s(e, t) {
	for (let [n, r] of Object.entries(t)) typeof r == "function" ? e.addEventListener(n.slice(2), r) : r === !0 ? e.setAttribute(n, "") : r !== !1 && r != null && e.setAttribute(n, String(r));
}
function c(e, t) {
	for (let n of t) n != null && n !== !1 && e.append(n);
}
function l(e, t = {}, ...n) {
	let r = document.createElement(e);
	return s(r, t), c(r, n), r;
}
function u(e, t = {}, ...n) {
	let r = document.createElementNS(i, e);
	return s(r, t), c(r, n), r;
}
function d(e, ...t) {
	return l("button", {
		type: "button",
		...e
	}, ...t);
}
function f(e, t) {
	return l("span", {}, e, l("span", { class: "ml-key" }, ` (${t})`));
}
function p(e, t) {
	e.textContent !== t && (e.textContent = t);
}
function m(e) {
	let t = e.getRootNode(), n = t instanceof ShadowRoot ? t.activeElement : document.activeElement;
	return n instanceof HTMLElement ? n : null;
}
function h(e, t, n = `${t}s`) {
	return `${e.toLocaleString("en-US")} ${e === 1 ? t : n}`;
}
var g = class {
	parent;
	keyOf;
	create;
	entries = /* @__PURE__ */ new Map();
	constructor(e, t, n) {
		this.parent = e, this.keyOf = t, this.create = n;
	}
	update(e) {
		let t = m(this.parent), n = t !== null && this.parent.contains(t), r = new Set(this.entries.keys()), i = this.parent.firstElementChild;
		for (let t of e) {
			let e = this.keyOf(t);
			r.delete(e);
			let n = this.entries.get(e);
			n === void 0 && (n = this.create(t), this.entries.set(e, n)), n.update(t), n.element === i ? i = i.nextElementSibling : this.parent.insertBefore(n.element, i);
		}
		for (let e of r) this.entries.get(e)?.element.remove(), this.entries.delete(e);
		n && this.restoreFocus(t);
	}
	restoreFocus(e) {
		m(this.parent) !== e && (e.isConnected ? e.focus({ preventScroll: !0 }) : this.parent.querySelector("button, input, select")?.focus({ preventScroll: !0 }));
	}
}, _ = "The studio was stopped.";
function v(e) {
	if (e.status !== "lost") return [e.notice || _];
	let t = e.hello?.file;
	if (!t) return [n];
	let r = `mustlink studio ${/^[\w./-]+$/.test(t) ? t : JSON.stringify(t)}`;
	return [
		`${n} Answers are saved in ${t}; if the studio was stopped, start `,
		l("code", {}, r),
		"."
	];
}
function y(e) {
	let t = l("div", {
		class: "ml-banner",
		role: "alert",
		hidden: !0
	}), n = () => {
		let n = e.status !== "open" && e.status !== "connecting";
		t.hidden = !n, t.replaceChildren(...n ? v(e) : []);
	};
	return e.subscribe(["connection", "hello"], n), n(), t;
}
function b(e) {
	let t = l("ul", {
		class: "ml-notices",
		"aria-label": "Notices",
		"aria-live": "polite"
	}), n = /* @__PURE__ */ new Set(), r = new g(t, (e) => e, (e) => {
		let t = d({
			class: "ml-button small plain",
			"aria-label": `Dismiss: ${e}`,
			onclick: () => {
				n.add(e), i();
			}
		}, "✕");
		return {
			element: l("li", { class: "ml-notice" }, l("span", {}, e), t),
			update: () => void 0
		};
	});
	function i() {
		let t = [...new Set(e.state?.notices ?? [])];
		for (let e of n) t.includes(e) || n.delete(e);
		r.update(t.filter((e) => !n.has(e)));
	}
	return e.subscribe("state", i), i(), t;
}
// src/panels/columns.ts
function ee() {
	let e = l("span", { class: "ml-column-name" }), t = l("span", { class: "ml-fine number" }), n = l("span");
	return {
		element: l("li", { class: "ml-column-row" }, e, l("div", {
			class: "ml-bar",
			"aria-hidden": "true"
		}, n), t),
		update(r) {
			p(e, r.name), p(t, `${Math.round(100 * r.share)}%`), n.style.width = `${100 * r.share}%`;
		}
	};
}
function x(e) {
	let t = l("p", { class: "ml-fine" }), n = l("ul", {
		class: "ml-column-list",
		"aria-label": "Columns by weight"
	}), r = new g(n, (e) => e.name, ee);
	function i() {
		let n = e.panels?.columns ?? [], i = Math.max(...n.map((e) => e.weight), 0);
		p(t, i > 0 ? "What your links say matters: the weight of each column, as a share of the heaviest one." : "After some links, this shows which columns they say matter.");
		let a = i > 0 ? [...n].sort((e, t) => t.weight - e.weight) : [];
		r.update(a.map((e) => ({
			...e,
			share: e.weight / i
		})));
	}
	return e.subscribe("panels", i), i(), l("div", { class: "ml-panel" }, t, n);
}
// src/panels/dialog.ts
var te = "button:not(:disabled), input:not(:disabled), select:not(:disabled), [tabindex='0']";
function S(e, t) {
	let n = m(e), r = l("h2", {
		id: o("title"),
		class: "ml-dialog-title"
	}, t.title), i = l("div", {
		role: t.role,
		"aria-modal": "true",
		"aria-labelledby": r.id,
		class: "ml-dialog",
		tabindex: -1
	}, r, t.description, l("div", { class: "ml-dialog-body" }, ...t.body), l("div", { class: "ml-dialog-buttons" }, ...t.buttons));
	t.description !== void 0 && (t.description.id ||= o("description"), i.setAttribute("aria-describedby", t.description.id));
	let a = l("div", {
		class: "ml-veil",
		onclick: d,
		onkeydown: f
	}, i), s = [...e.children].filter((e) => e instanceof HTMLElement && !e.inert);
	for (let e of s) e.inert = !0;
	e.append(a), (i.querySelector("[autofocus]") ?? i).focus();
	function c() {
		if (a.isConnected) {
			a.remove();
			for (let e of s) e.inert = !1;
			n?.isConnected && n.focus({ preventScroll: !0 });
		}
	}
	function u() {
		c(), t.onDismiss();
	}
	function d(e) {
		e.target === a && u();
	}
	function f(e) {
		e.stopPropagation(), e.key === "Escape" ? (e.preventDefault(), u()) : e.key === "Tab" && p(e);
	}
	function p(t) {
		let n = [...i.querySelectorAll(te)], r = n[0], a = n[n.length - 1];
		if (r === void 0 || a === void 0) return;
		let o = m(e), s = o === null || !n.includes(o);
		t.shiftKey && (s || o === r) ? (t.preventDefault(), a.focus()) : !t.shiftKey && (s || o === a) && (t.preventDefault(), r.focus());
	}
	return {
		element: i,
		close: c
	};
}
// src/panels/link-words.ts
var C = {
	file: "from the file",
	drawn: "drawn",
	answer: "answered",
	pin: "pinned",
	lock: "locked group",
	fixed: "fixed by a column"
}, w = /* @__PURE__ */ new Set([
	"file",
	"drawn",
	"answer"
]);
function T(e) {
	return w.has(e.source);
}
function E(e) {
	return e.together ? "same group as" : "different group from";
}
function ne(e) {
	return `${e.a_name}: ${E(e)} ${e.b_name} (${C[e.source]})`;
}
function D(e) {
	let t = u("line", {
		x1: 5,
		y1: 8,
		x2: 19,
		y2: 8,
		stroke: "currentColor",
		"stroke-width": 2,
		"stroke-dasharray": e ? null : "3 2"
	}), n = [5, 19].map((e) => u("circle", {
		cx: e,
		cy: 8,
		r: 3.5,
		fill: "currentColor"
	})), r = e ? null : u("line", {
		x1: 9,
		y1: 13,
		x2: 15,
		y2: 3,
		stroke: "currentColor",
		"stroke-width": 2
	});
	return u("svg", {
		viewBox: "0 0 24 16",
		class: `ml-link-symbol ${e ? "same" : "different"}`,
		"aria-hidden": "true"
	}, t, ...n, r);
}
function O(e) {
	let t = e[0];
	if (t === void 0) return [];
	let n = e[1], r = (e) => n !== void 0 && (e === n.a || e === n.b), i = [r(t.a) && !r(t.b) ? {
		row: t.b,
		name: t.b_name
	} : {
		row: t.a,
		name: t.a_name
	}];
	for (let t of e) {
		let e = i[i.length - 1];
		i.push(t.a === e.row ? {
			row: t.b,
			name: t.b_name
		} : {
			row: t.a,
			name: t.a_name
		});
	}
	return i;
}
function k(e) {
	if (e === null) return "";
	let t = new Date(e);
	return Number.isNaN(t.getTime()) ? e : t.toDateString() === (/* @__PURE__ */ new Date()).toDateString() ? t.toLocaleTimeString([], {
		hour: "2-digit",
		minute: "2-digit"
	}) : t.toLocaleString([], {
		dateStyle: "medium",
		timeStyle: "short"
	});
}
function A(e) {
	return l("time", {
		class: "ml-fine",
		datetime: e
	}, k(e));
}
// src/panels/perform.ts
function j(e, t, n = () => void 0) {
	e.act(t).then((e) => {
		e.type === "refused" && n();
	}, n);
}
// src/panels/conflict.ts
var M = "↓";
function re(e, t) {
	return t?.do !== "link" && t?.do !== "answer" ? !1 : (e.a === t.a && e.b === t.b || e.a === t.b && e.b === t.a) && e.together === t.together;
}
function ie(e, t, n, r) {
	return l("li", { class: r ? "ml-chain-link weakest" : "ml-chain-link" }, l("span", {
		class: "ml-chain-arrow",
		"aria-hidden": "true"
	}, M), D(e.together), l("span", { class: "ml-soft" }, `${E(e)} `), l("strong", {}, t), " ", l("span", { class: "ml-tag" }, n), r && " ", r && l("span", { class: "ml-tag warning" }, "weakest"));
}
function ae(e) {
	let t = O(e.chain);
	return l("ol", {
		class: "ml-chain",
		"aria-label": "The links that contradict it"
	}, l("li", { class: "ml-chain-link" }, l("strong", {}, t[0]?.name ?? "")), ...e.chain.map((n, r) => {
		let i = re(n, e.then) ? "what you asked" : C[n.source];
		return ie(n, t[r + 1]?.name ?? "", i, r === e.weakest);
	}));
}
function oe(e) {
	let t = `${e.a_name} and ${e.b_name} (${C[e.source]})`;
	return e.source === "pin" ? `The weakest link: ${t}. Removing it unpins rows, then does what you asked.` : `The weakest link: ${t}. Removing it deletes it, then does what you asked.`;
}
function se(e) {
	let t = [
		["lock", "unlock the group"],
		["pin", "unpin rows or move fewer"],
		["fixed", "what comes from columns of the table stays"]
	].filter(([t]) => e.some((e) => e.source === t)).map(([, e]) => e);
	return `None of these links can be removed here${t.length ? `: ${t.join("; ")}` : ""}.`;
}
function ce(e, t, n) {
	let { then: r } = n, i = n.weakest === null ? void 0 : n.chain[n.weakest], a = [d({
		class: "ml-button",
		autofocus: !0,
		onclick: u
	}, "Keep it as it was")], s = l("p", {
		class: "ml-fine",
		id: o("weakest")
	});
	if (i && r) {
		s.textContent = oe(i);
		let e = d({
			class: "ml-button primary",
			"aria-describedby": s.id,
			onclick: () => f(i, r)
		}, "Remove the weakest link");
		a.unshift(e);
	} else n.chain.length > 0 && (s.textContent = se(n.chain));
	let c = S(e, {
		role: "alertdialog",
		title: n.chain.length > 0 ? "That contradicts earlier links" : "That cannot be done",
		description: l("p", {}, n.message),
		body: [n.chain.length > 0 && ae(n), s],
		buttons: a,
		onDismiss: () => t.setRefused(null)
	});
	function u() {
		c.close(), t.setRefused(null);
	}
	function f({ a: e, b: n }, r) {
		c.close(), t.setRefused(null), j(t, {
			do: "replace",
			remove: [e, n],
			then: r
		});
	}
	return c;
}
function le(e, t) {
	let n = null;
	t.subscribe("refused", () => {
		n?.close(), n = t.refused ? ce(e, t, t.refused) : null;
	});
}
// src/panels/export.ts
var ue = [
	[
		"labels",
		"Labels",
		"The group of every row, as a CSV file."
	],
	[
		"links",
		"Links",
		"The links that you, files, pins and locks gave, not those of columns, as a CSV file that mustlink reads."
	],
	[
		"report",
		"Report",
		"Groups, links and columns on one HTML page."
	],
	[
		"python",
		"Python",
		"The script that computes the groups again; while a final result is being computed, the groups of that."
	],
	[
		"log",
		"Log",
		"Every step with its time, as JSON."
	]
], de = "The final result is still being computed: files that are saved now hold the groups that are shown now.";
function fe(e, t, n) {
	let r = URL.createObjectURL(new Blob([n], { type: t })), i = l("a", {
		href: r,
		download: e
	});
	document.body.append(i), i.click(), i.remove(), setTimeout(() => URL.revokeObjectURL(r), 1e4);
}
function pe(e) {
	let t = l("p", {
		class: "ml-fine",
		role: "status"
	});
	function n(n, r) {
		r.disabled = !0, p(t, "Preparing the file…"), e.ask({
			do: "export",
			what: n
		}).then((e) => {
			fe(e.name, e.media, e.text), p(t, `${e.name} was handed to the browser.`);
		}, (e) => p(t, e instanceof Error ? e.message : String(e))).finally(() => {
			r.disabled = !1, r.focus();
		});
	}
	let r = ue.map(([e, t, r]) => {
		let i = d({
			class: "ml-button",
			onclick: () => n(e, i)
		}, t);
		return l("li", { class: "ml-export" }, i, l("span", { class: "ml-fine" }, r));
	}), i = l("p", { class: "ml-fine" }, de), a = () => {
		i.hidden = e.state?.shown.status !== "working";
	};
	return e.subscribe("state", a), a(), l("div", { class: "ml-panel" }, i, l("ul", { class: "ml-export-list" }, ...r), t);
}
// src/plot/palette.ts
var N = [
	"#0072B2",
	"#D55E00",
	"#009E73",
	"#CC79A7",
	"#E69F00",
	"#56B4E9",
	"#000000",
	"#B2A800"
], P = [
	"#4FA8E0",
	"#FF8A3D",
	"#2FCFA0",
	"#E5A3C6",
	"#FFC34D",
	"#A5DAFF",
	"#FFFFFF",
	"#EDE25A"
], me = "#8A8A8A", he = "#8F98A1", F = [
	"circle",
	"square",
	"triangle up",
	"diamond",
	"triangle down",
	"plus",
	"cross",
	"star"
];
function I(e) {
	return e % 8;
}
function ge(e) {
	return (e + Math.floor(e / 8)) % 8;
}
function L(e, t) {
	return e === null ? t ? he : me : (t ? P : N)[I(e)];
}
function R(e) {
	return e === null ? "circle" : F[ge(e)];
}
function _e(e) {
	let t = [...e ? P : N, e ? he : me];
	return Float32Array.from(t.flatMap((e) => [
		1,
		3,
		5
	].map((t) => parseInt(e.slice(t, t + 2), 16) / 255)));
}
function z(e) {
	switch (e) {
		case "circle": return "M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z";
		case "square": return H([-.88, -.88], [.88, -.88], [.88, .88], [-.88, .88]);
		case "triangle up": return H([0, -1.25], [1.15, .8], [-1.15, .8]);
		case "diamond": return H([0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]);
		case "triangle down": return H([0, 1.25], [1.15, -.8], [-1.15, -.8]);
		case "plus": return H(...ve);
		case "cross": return H(...ve.map(([e, t]) => [(e - t) * Math.SQRT1_2, (e + t) * Math.SQRT1_2]));
		case "star": return H(...Array.from({ length: 10 }, (e, t) => {
			let n = t % 2 ? .62 : 1.35;
			return [n * Math.sin(Math.PI * t / 5), -n * Math.cos(Math.PI * t / 5)];
		}));
	}
}
var B = .42, V = 1.2, ve = [
	[-.42, -1.2],
	[B, -1.2],
	[B, -.42],
	[V, -.42],
	[V, B],
	[B, B],
	[B, V],
	[-.42, V],
	[-.42, B],
	[-1.2, B],
	[-1.2, -.42],
	[-.42, -.42]
];
function H(...e) {
	return `M${e.map(([e, t]) => `${ye(e)},${ye(t)}`).join("L")}Z`;
}
function ye(e) {
	return Math.round(1e3 * e) / 1e3;
}
// src/panels/symbol.ts
function be(e, t) {
	(t === "dark" ? P : N).forEach((t, n) => e.style.setProperty(`--ml-color-${n}`, t));
}
function xe(e) {
	return `var(--ml-color-${I(e)})`;
}
function Se(e) {
	let t = u("path", { d: z(R(e)) });
	return t.style.fill = xe(e), u("svg", {
		viewBox: "-1.5 -1.5 3 3",
		class: "ml-symbol",
		"aria-hidden": "true"
	}, t);
}
// src/panels/groups.ts
function Ce(e, t) {
	let n = [];
	return e.labels.forEach((e, r) => {
		e === t && n.push(r);
	}), n;
}
function we(e, t) {
	let n = l("input", {
		class: "ml-group-name",
		maxlength: 80,
		autocomplete: "off",
		spellcheck: "false",
		onkeydown: a,
		onchange: r
	});
	function r() {
		let r = t(), a = n.value.trim();
		a === "" || a === r.name ? i() : j(e, {
			do: "rename",
			group: r.id,
			name: a
		}, i);
	}
	function i() {
		n.value = t().name;
	}
	function a(e) {
		e.key === "Enter" && n.blur(), e.key === "Escape" && (e.stopPropagation(), i(), n.blur());
	}
	return n;
}
function Te(e, t) {
	return (t?.typical ?? []).map(({ row: t, name: n, cells: r }) => l("li", {}, d({
		class: "ml-row-name",
		title: "Show this row on the map",
		onclick: () => e([t])
	}, n), l("span", { class: "ml-fine" }, r.map(([e, t]) => `${e} ${t}`).join(", "))));
}
function Ee(e, t, n) {
	let r = n, i = we(e, () => r.group), a = l("span", { class: "ml-group-symbol" }), o = l("span", { class: "ml-fine number" }), s = l("span"), c = d({
		class: "ml-button small",
		onclick: y
	}), u = d({
		class: "ml-button small",
		onclick: () => e.select(Ce(e, r.group.id))
	});
	u.textContent = "Select rows";
	let f = l("ul", { class: "ml-traits" }), m = l("ul", { class: "ml-typical" }), g = l("details", { class: "ml-group-details" }, l("summary", {}, "Typical rows"), m), _ = l("li", { class: "ml-group" }, l("div", { class: "ml-group-head" }, a, i, o), l("div", {
		class: "ml-bar",
		"aria-hidden": "true"
	}, s), f, l("div", { class: "ml-group-foot" }, g, l("div", { class: "ml-group-actions" }, u, c))), v;
	function y() {
		j(e, {
			do: "lock",
			group: r.group.id,
			locked: !r.group.locked
		});
	}
	function b(e) {
		r = e;
		let { group: n, about: d } = e;
		document.activeElement !== i && (i.value = n.name), i.setAttribute("aria-label", `Name of group ${n.id + 1}`), a.replaceChildren(Se(n.id)), p(o, h(n.size, "row")), s.style.background = xe(n.id), s.style.width = `${100 * n.size / Math.max(e.largest, 1)}%`, p(c, n.locked ? "Locked" : "Lock"), c.setAttribute("aria-pressed", String(n.locked)), c.setAttribute("aria-label", `Lock ${n.name}`), c.title = n.locked ? "Its rows stay in it; press to release them" : "Keep its rows in it", u.setAttribute("aria-label", `Select rows of ${n.name}`), g.hidden = !d?.typical.length, d !== v && (v = d, f.replaceChildren(...(d?.traits ?? []).map((e) => l("li", {}, e))), f.hidden = !d?.traits.length, m.replaceChildren(...Te(t, d)));
	}
	return {
		element: _,
		update: b
	};
}
function De(e, t) {
	let n = l("p", { class: "ml-fine" }), r = l("ul", {
		class: "ml-group-list",
		"aria-label": "Groups by size"
	}), i = new g(r, (e) => String(e.group.id), (n) => Ee(e, t, n));
	function a() {
		let t = [...e.state?.groups ?? []].sort((e, t) => t.size - e.size || e.id - t.id), r = new Map(e.panels?.groups.map((e) => [e.id, e])), a = t[0]?.size ?? 0;
		p(n, t.length ? `${h(t.length, "group")} of ${h(e.nRows, "row")}.` : e.state?.shown.status === "working" ? "The first groups are being computed. Answer questions meanwhile, or drag rows to two places of the map." : "There are no groups yet. Answer questions, or drag rows to two places of the map."), i.update(t.map((e) => ({
			group: e,
			about: r.get(e.id),
			largest: a
		})));
	}
	return e.subscribe([
		"state",
		"panels",
		"hello"
	], a), a(), l("div", { class: "ml-panel" }, n, r);
}
// src/plot/camera.ts
var U = 1.12, Oe = .2, ke = 400;
function W(e, t) {
	return {
		x: K(e, -4, 4),
		y: K(t, -4, 4)
	};
}
var G = class {
	x = 0;
	y = 0;
	scale = 1;
	width = 1;
	height = 1;
	get fitScale() {
		return Math.min(this.width, this.height) / (2 * U);
	}
	get zoom() {
		return this.scale / this.fitScale;
	}
	resize(e, t) {
		let n = this.width > 1 ? this.zoom : 1;
		this.width = Math.max(1, e), this.height = Math.max(1, t), this.scale = n * this.fitScale;
	}
	fit(e = /* @__PURE__ */ new Float32Array()) {
		let [t, n, r, i] = [
			-1,
			-1,
			1,
			1
		];
		for (let a = 0; a < e.length; a += 2) t = Math.min(t, e[a]), r = Math.max(r, e[a]), n = Math.min(n, e[a + 1]), i = Math.max(i, e[a + 1]);
		this.x = (t + r) / 2, this.y = (n + i) / 2, this.scale = Math.min(this.width / (r - t), this.height / (i - n)) / U;
	}
	screenX(e) {
		return this.width / 2 + (e - this.x) * this.scale;
	}
	screenY(e) {
		return this.height / 2 - (e - this.y) * this.scale;
	}
	toWorld(e, t) {
		return {
			x: this.x + (e - this.width / 2) / this.scale,
			y: this.y - (t - this.height / 2) / this.scale
		};
	}
	panBy(e, t) {
		this.moveTo(this.x - e / this.scale, this.y + t / this.scale);
	}
	zoomAt(e, t, n) {
		let r = this.toWorld(e, t);
		this.scale = K(this.scale * n, Oe * this.fitScale, ke * this.fitScale), this.moveTo(r.x - (e - this.width / 2) / this.scale, r.y + (t - this.height / 2) / this.scale);
	}
	moveTo(e, t) {
		Object.assign(this, W(e, t));
	}
	show(e, t, n, r) {
		this.x = (e + n) / 2, this.y = (t + r) / 2;
		let i = Math.min(this.width / Math.max(n - e, 1e-9), this.height / Math.max(r - t, 1e-9));
		this.scale = K(i / 1.6, Math.min(this.fitScale, i / U), 12 * this.fitScale);
	}
};
function K(e, t, n) {
	return Math.max(t, Math.min(n, e));
}
// src/plot/grid.ts
var Ae = 4, je = class {
	positions;
	side;
	starts;
	rows;
	x0;
	y0;
	cellsX;
	cellsY;
	constructor(e) {
		this.positions = e;
		let t = e.length / 2, [n, r, i, a] = [
			Infinity,
			Infinity,
			-Infinity,
			-Infinity
		];
		for (let o = 0; o < t; o++) {
			let t = e[2 * o], s = e[2 * o + 1];
			t < n && (n = t), t > i && (i = t), s < r && (r = s), s > a && (a = s);
		}
		this.x0 = t ? n : 0, this.y0 = t ? r : 0;
		let o = t ? Math.max(i - n, a - r, 1e-6) : 1;
		this.side = o / Math.max(1, Math.ceil(Math.sqrt(t / Ae))), this.cellsX = t ? Math.floor((i - n) / this.side) + 1 : 1, this.cellsY = t ? Math.floor((a - r) / this.side) + 1 : 1, this.starts = new Uint32Array(this.cellsX * this.cellsY + 1), this.rows = new Uint32Array(t);
		let s = new Uint32Array(t);
		for (let n = 0; n < t; n++) {
			let t = this.cellY(e[2 * n + 1]) * this.cellsX + this.cellX(e[2 * n]);
			s[n] = t, this.starts[t + 1]++;
		}
		for (let e = 0; e < this.cellsX * this.cellsY; e++) this.starts[e + 1] += this.starts[e];
		let c = this.starts.slice();
		for (let e = 0; e < t; e++) this.rows[c[s[e]]++] = e;
	}
	cellX(e) {
		return Math.max(0, Math.min(this.cellsX - 1, Math.floor((e - this.x0) / this.side)));
	}
	cellY(e) {
		return Math.max(0, Math.min(this.cellsY - 1, Math.floor((e - this.y0) / this.side)));
	}
	nearest(e, t, n, r = () => !0) {
		let i = null, a = n * n, o = (e, t) => Math.floor((e - t) / this.side), s = o(e, this.x0), c = o(t, this.y0), l = Math.ceil(Math.min(n, 1e6) / this.side) + 1, u = Math.max(Math.abs(s), Math.abs(c), Math.abs(this.cellsX - 1 - s), Math.abs(this.cellsY - 1 - c));
		for (let n = 0; n <= Math.min(l, u) && !(n > 1 && ((n - 1) * this.side) ** 2 > a); n++) this.eachInRing(s, c, n, (n) => {
			let o = this.positions[2 * n] - e, s = this.positions[2 * n + 1] - t, c = o * o + s * s;
			c > a || c === a && i !== null && n > i || !r(n) || (i = n, a = c);
		});
		return i;
	}
	eachInRing(e, t, n, r) {
		let i = Math.max(0, t - n), a = Math.min(this.cellsY - 1, t + n);
		for (let o = i; o <= a; o++) {
			let i = o === t - n || o === t + n || n === 0 ? 1 : 2 * n;
			for (let t = e - n; t <= e + n; t += i) {
				if (t < 0 || t >= this.cellsX) continue;
				let e = o * this.cellsX + t;
				for (let t = this.starts[e]; t < this.starts[e + 1]; t++) r(this.rows[t]);
			}
		}
	}
	eachInBox(e, t, n, r, i) {
		for (let a = this.cellY(t); a <= this.cellY(r); a++) for (let o = this.cellX(e); o <= this.cellX(n); o++) {
			let s = a * this.cellsX + o;
			for (let a = this.starts[s]; a < this.starts[s + 1]; a++) {
				let o = this.rows[a], s = this.positions[2 * o], c = this.positions[2 * o + 1];
				if (s >= e && s <= n && c >= t && c <= r && i(o) === !1) return;
			}
		}
	}
	toward(e, t, n) {
		let r = this.positions[2 * e], i = this.positions[2 * e + 1];
		for (let a = 4 * this.side;; a *= 2) {
			let o = null, s = Infinity, c = this.boxToward(r, i, t, n, a);
			if (this.eachInBox(...c, (a) => {
				let c = this.positions[2 * a] - r, l = this.positions[2 * a + 1] - i, u = c * t + l * n, d = Math.abs(c * n - l * t);
				if (a === e || u <= 0 || d > u) return;
				let f = u + 2 * d;
				f < s && (o = a, s = f);
			}), o !== null && s <= a || a > 8) return o;
		}
	}
	boxToward(e, t, n, r, i) {
		return [
			n < 0 || n === 0 ? e - i : e,
			r < 0 || r === 0 ? t - i : t,
			n > 0 || n === 0 ? e + i : e,
			r > 0 || r === 0 ? t + i : t
		];
	}
};
function Me(e, t, n) {
	let r = n.filter((e, t) => t % 2 == 0), i = n.filter((e, t) => t % 2 == 1);
	if (r.length < 3) return [];
	let a = [];
	return e.eachInBox(Math.min(...r), Math.min(...i), Math.max(...r), Math.max(...i), (e) => {
		let n = t[2 * e], o = t[2 * e + 1], s = !1;
		for (let e = 0, t = r.length - 1; e < r.length; t = e++) i[e] > o != i[t] > o && n < (r[t] - r[e]) * (o - i[e]) / (i[t] - i[e]) + r[e] && (s = !s);
		s && a.push(e);
	}), a.sort((e, t) => e - t);
}
function Ne(e, t, n, r, i, a) {
	let o = e.nearest(r, i, a, (e) => !n.has(e));
	if (o === null) return null;
	let [s, c] = [t[2 * o], t[2 * o + 1]];
	return Math.hypot(s - r, c - i) < a ? [
		o,
		s,
		c
	] : null;
}
// src/plot/row-actions.ts
var Pe = Math.PI * (3 - Math.sqrt(5)), Fe = .4;
function Ie(e, t, n, r) {
	return new Map(e.map((i, a) => {
		let o = e.length === 1 ? 0 : Fe * r * Math.sqrt(a / e.length);
		return [i, [t + o * Math.cos(a * Pe), n + o * Math.sin(a * Pe)]];
	}));
}
function Le(e, t, n, r) {
	let i = e.store.state?.eps ?? 0, a = W(n, r), o = Ne(e.drawn.grid, e.drawn.positions, new Set(t), a.x, a.y, i);
	e.ghost = {
		rows: t,
		...a,
		onto: o
	}, e.redraw();
}
async function Re(e) {
	let { ghost: t, store: n } = e;
	if (e.ghost = null, e.redraw(), !t) return;
	let { rows: r, x: i, y: a, onto: o } = t;
	e.hold(Ie(r, i, a, n.state?.eps ?? 0));
	try {
		let t = await n.act({
			do: "move",
			rows: [...r],
			x: i,
			y: a,
			onto: o
		});
		t.type === "done" && await ze(e, t.revision);
	} catch {} finally {
		e.hold(null, r);
	}
}
function ze(e, t) {
	let { store: n } = e;
	return new Promise((e) => {
		let r = () => (n.state?.revision ?? 0) >= t || n.status !== "open";
		if (r()) {
			e();
			return;
		}
		let i = n.subscribe(["state", "connection"], () => {
			r() && (i(), e());
		});
	});
}
function Be(e, t, n, r) {
	t !== n && e.store.act({
		do: "link",
		a: t,
		b: n,
		together: r
	}).catch(() => {});
}
function Ve(e, t) {
	let n = new Set(e.store.state?.pins.map(([e]) => e)), r = t.filter((e) => n.has(e));
	r.length && e.store.act({
		do: "unpin",
		rows: r
	}).catch(() => {});
}
// src/plot/keys.ts
var He = "Arrow keys move a cursor from row to row; Enter selects the row or takes it out of the selection. To link two rows, press 3 for same or 4 for different, then Enter on the one and on the other; 1 ends it. m picks up the selected rows, or the row of the cursor: then arrow keys carry them, Shift for small steps, Enter drops them and Escape puts them back. p lets go of pins. Plus, minus and 0 zoom in, zoom out and show all rows. Escape clears the selection.", Ue = {
	ArrowLeft: [-1, 0],
	ArrowRight: [1, 0],
	ArrowUp: [0, 1],
	ArrowDown: [0, -1]
}, We = 48, Ge = 8, Ke = class {
	map;
	card;
	pointers;
	announce;
	ends = new AbortController();
	isCarrying = !1;
	constructor(e, t, n, r) {
		this.map = e, this.card = t, this.pointers = n, this.announce = r;
		let { signal: i } = this.ends, a = () => e.element.classList.add("ml-by-key");
		e.element.addEventListener("focus", a, { signal: i }), e.element.addEventListener("keydown", a, { signal: i }), e.element.addEventListener("keydown", (e) => this.press(e), { signal: i }), e.element.addEventListener("blur", () => this.leave(), { signal: i });
	}
	press(e) {
		e.target !== this.map.element || e.ctrlKey || e.metaKey || e.altKey || this.handle(e) && (e.preventDefault(), e.stopPropagation());
	}
	handle(e) {
		let { map: t } = this, { store: n } = t, r = Ue[e.key];
		if (r) return this.isCarrying ? this.carryBy(r, e.shiftKey) : this.walk(r), !0;
		switch (e.key) {
			case "Enter":
			case " ": return this.isCarrying ? this.letGo() : n.mode === "same" || n.mode === "different" ? this.link() : this.toggle(), !0;
			case "Escape": return this.escape();
			case "m": return this.pickUp();
			case "p": return Ve(t, this.meant()), !0;
			case "+":
			case "=":
			case "-": return t.moveCamera((t) => t.zoomAt(...this.zoomPlace(), e.key === "-" ? 1 / 1.5 : 1.5), !0), !0;
			case "0": return t.fit(), !0;
			default: return !1;
		}
	}
	meant() {
		let { store: e, cursor: t } = this.map;
		return e.selection.length ? e.selection : t === null ? [] : [t];
	}
	zoomPlace() {
		let { map: e } = this;
		if (e.cursor === null) return [e.camera.width / 2, e.camera.height / 2];
		let { x: t, y: n } = e.screen(e.cursor);
		return [t, n];
	}
	walk([e, t]) {
		let { map: n } = this;
		if (n.drawn.n === 0) return;
		let { camera: r, drawn: i } = n;
		if (n.cursor === null) n.cursor = n.store.selection.at(-1) ?? i.grid.nearest(r.x, r.y, 10);
		else {
			let r = i.grid.toward(n.cursor, e, t);
			if (r === null) {
				this.announce("There is no row in this direction.");
				return;
			}
			n.cursor = r;
		}
		n.cursor !== null && this.tell(n.cursor);
	}
	async tell(e) {
		let { map: t } = this;
		this.keepInView(e), t.redraw();
		let { x: n, y: r } = t.screen(e), i = await this.card.show(e, n, r);
		if (!i) return;
		let a = t.store.state?.groups.find((n) => n.id === t.store.groupOf(e))?.name ?? "no group", o = i.cells.slice(0, 3).map((e) => `${e.column} ${e.text.slice(0, 60)}`), s = [t.store.selection.includes(e) ? "selected" : "", i.pinned ? "pinned" : ""].filter(Boolean);
		this.announce([
			i.name,
			a,
			...s,
			...o
		].join(", "));
	}
	keepInView(e) {
		let { map: t } = this, { x: n, y: r } = t.screen(e), { width: i, height: a } = t.camera, o = Math.min(60, i / 6, a / 6), s = (e, t) => Math.min(0, e - o) + Math.max(0, e - t + o), [c, l] = [s(n, i), s(r, a)];
		(c || l) && t.moveCamera((e) => e.panBy(-c, -l));
	}
	toggle() {
		let { map: e } = this, { store: t, cursor: n } = e;
		if (n === null) return;
		let r = t.selection.includes(n);
		t.select(r ? t.selection.filter((e) => e !== n) : [...t.selection, n]), this.announce(`${r ? "Not selected" : "Selected"}; ${t.selection.length} selected in all.`);
	}
	link() {
		let { cursor: e, store: t } = this.map;
		if (e === null) return;
		let n = t.mode === "same" ? "same group" : "different groups", r = this.pointers.chooseLinked(e);
		r === "first" ? this.announce(`First row of a link, ${n}; Enter on the second row draws it.`) : this.announce(r === "linked" ? `Linked: ${n}.` : "The link is given up.");
	}
	pickUp() {
		let e = this.meant();
		if (e.length === 0) return !1;
		let { map: t } = this, { positions: n } = t.drawn;
		return this.isCarrying = !0, this.card.hide(), Le(t, e, n[2 * e[0]], n[2 * e[0] + 1]), this.announce(`Picked up ${e.length === 1 ? "1 row" : `${e.length} rows`}. Arrow keys carry, Enter drops, Escape puts back.`), !0;
	}
	carryBy([e, t], n) {
		let { map: r } = this;
		if (!r.ghost) return;
		let i = (n ? Ge : We) / r.camera.scale;
		Le(r, r.ghost.rows, r.ghost.x + e * i, r.ghost.y + t * i);
		let { onto: a } = r.ghost, o = a && r.store.state?.groups.find((e) => e.id === r.store.groupOf(a[0]))?.name;
		this.announce(a ? `Over ${o ?? "a row without a group"}` : "Over an empty place");
	}
	letGo() {
		this.isCarrying = !1, this.announce("Dropped."), Re(this.map);
	}
	escape() {
		let { map: e } = this;
		return this.isCarrying ? (this.isCarrying = !1, e.ghost = null, e.redraw(), this.announce("Put back."), !0) : this.pointers.cancel() ? !0 : e.store.selection.length !== 0 && (e.store.select([]), this.announce("Nothing is selected."), !0);
	}
	leave() {
		this.card.hide(), this.isCarrying && (this.isCarrying = !1, this.map.ghost = null, this.map.redraw());
	}
	destroy() {
		this.ends.abort();
	}
}, qe = "mustlink-theme";
function Je(e) {
	try {
		return localStorage.getItem(e);
	} catch {
		return null;
	}
}
function Ye(e, t) {
	try {
		localStorage.setItem(e, t);
	} catch {}
}
function Xe(e, t) {
	let n = window.matchMedia("(prefers-color-scheme: dark)"), r = Je(qe) ?? e.dataset.theme, i = r === "light" || r === "dark" ? r : null, a = () => i ?? (n.matches ? "dark" : "light");
	function o() {
		e.dataset.theme !== a() && (e.dataset.theme = a()), t(a());
	}
	return n.addEventListener("change", o), o(), {
		get theme() {
			return a();
		},
		toggle() {
			i = a() === "dark" ? "light" : "dark", Ye(qe, i), o();
		},
		destroy: () => n.removeEventListener("change", o)
	};
}
// src/panels/keyboard.ts
var Ze = [
	["s", "Answer the question: same group"],
	["d", "Answer the question: different groups"],
	["u", "Unsure: ask something else"],
	["z", "Undo"],
	["y", "Redo"],
	["f", "Find both rows of the question on the map"],
	["1", "Pan"],
	["2", "Lasso"],
	["3", "Link same"],
	["4", "Link different"],
	["Escape", "Clear the selection, close a dialog"],
	["?", "This help"]
], Qe = {
	1: "pan",
	2: "lasso",
	3: "same",
	4: "different"
}, $e = "mustlink-single-keys", et = "input:not([type='range']):not([type='checkbox']), textarea, select, [contenteditable]";
function tt() {
	return Je($e) !== "off";
}
function nt(e) {
	Ye($e, e ? "on" : "off");
}
function rt(e) {
	return e instanceof Element && e.closest(et) !== null;
}
function it(e, { store: t, question: n, openHelp: r }) {
	let i = Qe[e];
	if (i !== void 0) t.setMode(i);
	else if (e === "s") n.answer(!0);
	else if (e === "d") n.answer(!1);
	else if (e === "u") n.answer(null);
	else if (e === "f") n.showOnMap();
	else if (e === "z" && t.state?.can_undo) j(t, { do: "undo" });
	else if (e === "y" && t.state?.can_redo) j(t, { do: "redo" });
	else if (e === "?") r();
	else return !1;
	return !0;
}
function at(e) {
	if (e.altKey || !(e.ctrlKey || e.metaKey)) return null;
	let t = e.key.toLowerCase();
	return t === "z" ? e.shiftKey ? "y" : "z" : t === "y" ? "y" : null;
}
function ot(e, t) {
	let n = e.classList.contains("ml-in-notebook") ? e : document;
	n === e && e.setAttribute("data-lm-suppress-shortcuts", "true");
	function r(r) {
		if (!(r instanceof KeyboardEvent) || r.defaultPrevented || rt(r.target) || e.querySelector("[aria-modal='true']") !== null) return;
		let i = at(r), a = !r.ctrlKey && !r.metaKey && !r.altKey;
		r.key === "Escape" && a ? t.store.select([]) : !r.repeat && (i !== null || a && tt()) && it(i ?? (r.key.length === 1 ? r.key.toLowerCase() : r.key), t) && (r.preventDefault(), n === e && r.stopPropagation());
	}
	return n.addEventListener("keydown", r), () => n.removeEventListener("keydown", r);
}
// src/panels/help.ts
var st = [
	["Answer questions", "Each answer is a link. The questions are chosen so that few are needed."],
	["Drag a row", "It stays where you drop it (a ring marks it). Rows dropped within the halo of each other are in one group; a row dropped on its own makes a new group."],
	["Draw a link", "Choose Link same or Link different, then draw from one row to the other."],
	["Select with the lasso", "Then drag the rows, or use the bar at the bottom of the map."],
	["Lock a group", "Its rows stay in it, whatever else you say."]
];
function ct(e) {
	let t = d({
		class: "ml-button primary",
		autofocus: !0,
		onclick: () => i.close()
	}, "Close"), n = l("table", { class: "ml-keys" }, l("caption", {}, "Keys"));
	for (let [e, t] of Ze) n.append(l("tr", {}, l("th", { scope: "row" }, l("kbd", {}, e)), l("td", {}, t)));
	let r = l("input", {
		type: "checkbox",
		id: o("single"),
		onchange: () => nt(r.checked)
	});
	r.checked = tt();
	let i = S(e, {
		role: "dialog",
		title: "How to teach the groups",
		body: [
			l("dl", { class: "ml-ways" }, ...st.flatMap(([e, t]) => [l("dt", {}, e), l("dd", {}, t)])),
			n,
			l("div", {}, l("h3", { class: "ml-panel-title" }, "Keys on the map"), l("p", {}, He)),
			l("label", { class: "ml-check" }, r, "Single keys act at once (not while typing)")
		],
		buttons: [t],
		onDismiss: () => void 0
	});
}
// src/panels/history.ts
function lt(e) {
	let t = l("span", { class: "ml-step-text" });
	return {
		element: l("li", { class: "ml-step" }, l("span", { class: "ml-fine number" }, String(e.n)), t, A(e.when)),
		update: (e) => p(t, e.text)
	};
}
function ut(e, { name: t, when: n }) {
	let r = d({
		class: "ml-button small",
		"aria-label": `Restore ${t}`,
		onclick: () => j(e, {
			do: "restore",
			name: t
		})
	}, "Restore");
	return {
		element: l("li", { class: "ml-step" }, l("span", { class: "ml-step-text" }, t), A(n), r),
		update: () => void 0
	};
}
function dt(e) {
	let t = l("input", {
		class: "ml-input",
		"aria-label": "Name of the snapshot",
		placeholder: "Name of the snapshot",
		maxlength: 80,
		autocomplete: "off",
		required: !0,
		oninput: () => t.setCustomValidity("")
	}), n = l("form", {
		class: "ml-snapshot-form",
		onsubmit: a
	}, t, l("button", {
		type: "submit",
		class: "ml-button"
	}, "Save snapshot")), r = l("ul", {
		class: "ml-steps",
		"aria-label": "Snapshots"
	}), i = new g(r, (e) => `${e.name} ${e.when}`, (t) => ut(e, t));
	function a(n) {
		n.preventDefault();
		let r = t.value.trim();
		r !== "" && (e.state?.snapshots.some((e) => e.name === r) ? (t.setCustomValidity("There is a snapshot of this name already; choose another name."), t.reportValidity()) : (t.value = "", j(e, {
			do: "snapshot",
			name: r
		}, () => {
			t.value = r;
		})));
	}
	let o = () => i.update([...e.state?.snapshots ?? []].reverse());
	return e.subscribe("state", o), o(), l("div", {}, l("h3", { class: "ml-panel-title" }, "Snapshots"), n, r);
}
function ft(e) {
	let t = l("p", { class: "ml-fine" }), n = l("ol", {
		class: "ml-steps",
		reversed: !0,
		"aria-label": "Steps, newest first"
	}), r = new g(n, (e) => `${e.n} ${e.when}`, lt), i = d({
		class: "ml-button small",
		onclick: () => j(e, { do: "undo" })
	}, "Undo last step"), a = d({
		class: "ml-button small",
		onclick: () => j(e, { do: "redo" })
	}, "Redo step");
	function o() {
		let n = e.state, o = n?.history ?? [], s = o.length < (o.at(-1)?.n ?? 0) ? ` (the last ${o.length} are listed)` : "";
		p(t, o.length ? `${h(o.at(-1).n, "step")}, newest first${s}; each was saved when it was done.` : "Nothing has been done yet. Every step is saved as it is done."), i.disabled = !n?.can_undo, a.disabled = !n?.can_redo, r.update([...o].reverse());
	}
	return e.subscribe("state", o), o(), l("div", { class: "ml-panel" }, dt(e), l("h3", { class: "ml-panel-title" }, "Steps"), l("div", { class: "ml-history-actions" }, i, a), t, n);
}
// src/panels/links.ts
var pt = 100;
function mt(e) {
	return e.isPlaced && !e.kept;
}
function q(e) {
	return e.suspicion !== null && e.suspicion > .5;
}
function ht(e, t) {
	if (t.kind === "same" && !e.together || t.kind === "different" && e.together || t.kind === "suspect" && !q(e) || t.kind === "broken" && !mt(e) || t.source !== "" && e.source !== t.source) return !1;
	let n = t.text.trim().toLowerCase();
	return n === "" || e.a_name.toLowerCase().includes(n) || e.b_name.toLowerCase().includes(n);
}
function gt(e) {
	let t = (e) => q(e) ? 2 + e.suspicion : +!!mt(e);
	return [...e].sort((e, n) => t(n) - t(e));
}
function _t(e) {
	if (!q(e)) return "";
	let t = e.together ? "the rows are unlike each other" : "the rows are much alike";
	return `May be wrong (${Math.round(100 * e.suspicion)}%): judged by the other links, ${t}.`;
}
function vt(e) {
	return e.isPlaced ? e.kept ? "✓ kept" : "✗ broken" : "no group yet";
}
function yt(e, t, n) {
	let r = n, i = "", a = l("div", { class: "ml-link-names" }), o = l("div", { class: "ml-link-tags" }), s = l("p", { class: "ml-link-why" }), c = d({
		class: "ml-button small",
		onclick: m
	}, "Delete"), u = d({
		class: "ml-button small",
		onclick: () => t([r.a, r.b])
	}, "Show on map"), f = l("li", { class: "ml-link" }, a, s, l("div", { class: "ml-link-foot" }, o, l("div", { class: "ml-link-actions" }, u, c)));
	function m() {
		let { a: t, b: n, source: i } = r;
		j(e, i === "pin" ? {
			do: "unpin",
			rows: [t, n]
		} : {
			do: "unlink",
			a: t,
			b: n
		});
	}
	function h(e) {
		r = e;
		let t = JSON.stringify(e);
		t !== i && (i = t, a.replaceChildren(l("span", {}, e.a_name), D(e.together), l("span", { class: "ml-unseen" }, ` ${E(e)} `), l("span", {}, e.b_name)), o.replaceChildren(l("span", { class: "ml-tag" }, e.together ? "same" : "different"), l("span", { class: "ml-tag" }, C[e.source]), l("span", { class: mt(e) ? "ml-tag danger" : "ml-tag" }, vt(e))), e.when !== null && o.append(A(e.when)), o.title = k(e.when), p(s, _t(e)), s.hidden = !q(e), f.classList.toggle("suspect", q(e)), p(c, e.source === "pin" ? "Unpin both" : "Delete"), c.hidden = !T(e) && !(e.source === "pin" && e.together), c.setAttribute("aria-label", `${c.textContent} ${ne(e)}`), u.setAttribute("aria-label", `Show on map ${ne(e)}`));
	}
	return {
		element: f,
		update: h
	};
}
function bt(e, t, n) {
	return l("select", {
		class: "ml-input",
		"aria-label": e,
		onchange: n
	}, ...t.map(([e, t]) => l("option", { value: e }, t)));
}
function xt(e, t) {
	let n = pt, r = l("input", {
		class: "ml-input",
		type: "search",
		placeholder: "Find a row",
		"aria-label": "Filter links by row",
		oninput: f
	}), i = bt("Kind of link", [
		["", "All kinds"],
		["same", "Same"],
		["different", "Different"],
		["suspect", "May be wrong"],
		["broken", "Broken"]
	], f), a = bt("Source of link", [["", "All sources"], ...Object.entries(C)], f), o = l("p", {
		class: "ml-fine",
		role: "status"
	}), s = l("ul", {
		class: "ml-link-list",
		"aria-label": "Links"
	}), c = d({
		class: "ml-button",
		onclick: m
	}, "Show more"), u = new g(s, (e) => `${e.a} ${e.b} ${e.together} ${e.source}`, (n) => yt(e, t, n));
	function f() {
		n = pt, v();
	}
	function m() {
		n += pt, v();
	}
	function _(t) {
		let n = e.state;
		if (!n || n.n_links === 0) return "There are no links yet. Answer questions, or draw a link on the map.";
		let r = h(n.n_links, "link"), i = n.links.filter(q).length, a = i ? `, ${i} may be wrong` : "", o = n.links.length < n.n_links ? `, the first ${n.links.length.toLocaleString("en-US")} are listed` : "";
		return `${t < n.links.length ? `${t.toLocaleString("en-US")} found of ${r}` : r}${a}${o}.`;
	}
	function v() {
		let t = {
			text: r.value,
			kind: i.value,
			source: a.value
		}, s = gt((e.state?.links ?? []).map((t) => ({
			...t,
			isPlaced: e.groupOf(t.a) !== null && e.groupOf(t.b) !== null
		})).filter((e) => ht(e, t)));
		p(o, _(s.length)), u.update(s.slice(0, n)), c.hidden = s.length <= n;
	}
	return e.subscribe(["state", "labels"], v), v(), l("div", { class: "ml-panel" }, l("div", { class: "ml-filters" }, r, i, a), o, s, c);
}
// src/panels/comparison.ts
var St = "≠";
function Ct(e, t, n, r) {
	let i = l("span", { class: "ml-fine" }, "Loading the image…");
	return r(e, n).then((e) => i.replaceWith(l("img", {
		src: e,
		alt: `${n} of ${t}`,
		class: "ml-cell-image"
	})), (e) => {
		i.textContent = e instanceof Error ? e.message : String(e);
	}), i;
}
function wt(e, t, n) {
	return t === "image" && e !== "" ? l("td", {
		role: "cell",
		class: "image"
	}, n()) : e === "" ? l("td", {
		role: "cell",
		class: "empty"
	}, "(empty)") : l("td", {
		role: "cell",
		class: t
	}, e);
}
function Tt(e) {
	let t = document.createDocumentFragment();
	for (let n of e.split(/(?<=[_./-])/)) t.append(n, document.createElement("wbr"));
	return t;
}
function Et(e, t) {
	let n = l("tr", { role: "row" }, l("th", {
		role: "columnheader",
		scope: "col"
	}, l("span", { class: "ml-unseen" }, "Column")), l("th", {
		role: "columnheader",
		scope: "col"
	}, e.a_name), l("th", {
		role: "columnheader",
		scope: "col"
	}, e.b_name)), r = e.columns.map((n) => l("tr", {
		role: "row",
		class: `${n.kind === "text" || n.kind === "image" ? "wide" : ""} ${n.marked ? "marked" : ""}`.trim()
	}, l("th", {
		role: "rowheader",
		scope: "row"
	}, n.marked && l("span", {
		class: "ml-differs",
		"aria-hidden": "true",
		title: "differs most"
	}, St), Tt(n.name), n.marked && l("span", { class: "ml-unseen" }, ", differs most")), wt(n.first, n.kind, () => Ct(e.a, e.a_name, n.name, t)), wt(n.second, n.kind, () => Ct(e.b, e.b_name, n.name, t))));
	return l("table", {
		role: "table",
		class: "ml-comparison",
		"aria-label": `${e.a_name} beside ${e.b_name}`
	}, l("thead", { role: "rowgroup" }, n), l("tbody", { role: "rowgroup" }, ...r));
}
// src/panels/question.ts
var Dt = "Do these two rows belong to the same group?", Ot = "Choosing the next question…";
function kt(e) {
	let t = e.columns.filter((e) => e.marked && e.kind !== "image").map(({ name: e, first: t, second: n }) => `${e}: ${t || "empty"}, ${n || "empty"}`);
	return `Question${e.number === void 0 ? "" : ` ${e.number}`}: ${e.a_name} and ${e.b_name}. ${t.join("; ")}`.trim();
}
function At(e, t, n) {
	let r = l("h2", {
		class: "ml-question-title",
		tabindex: -1
	}, "Question"), i = d({
		class: "ml-button small",
		title: "Select both rows on the map (f)",
		onclick: E
	}, "Show on map"), a = l("p", { class: "ml-asked" }, Dt), s = l("div", {
		class: "ml-question-rows",
		tabindex: 0,
		role: "group",
		"aria-label": "The two rows"
	}), c = l("p", { class: "ml-fine" }), u = l("p", { class: "ml-question-end" }), g = [
		d({
			class: "ml-button same",
			onclick: () => C(!0)
		}, D(!0), f("Same", "s")),
		d({
			class: "ml-button different",
			onclick: () => C(!1)
		}, D(!1), f("Different", "d")),
		d({
			class: "ml-button",
			onclick: () => C(null)
		}, f("Unsure", "u"))
	], _ = l("div", { class: "ml-question-actions" }, ...g), v = l("p", {
		class: "ml-advice",
		role: "note"
	}), y = l("span", {
		class: "ml-fine",
		title: "Answers and drawn links"
	}), b = l("select", {
		class: "ml-input small",
		id: o("strategy"),
		onchange: ne
	}), ee = l("div", { class: "ml-question-footer" }, y, l("label", {
		class: "ml-field",
		for: b.id
	}, "Ask by", b)), x = l("p", {
		class: "ml-unseen",
		"aria-live": "polite"
	}), te = l("div", { class: "ml-question-head" }, r, i);
	e.append(te, a, s, c, u, _, v, ee, x);
	let S = null;
	function C(e) {
		let n = t.question?.question;
		n && !w(n) && (S = n, O(), j(t, {
			do: "answer",
			a: n.a,
			b: n.b,
			together: e
		}, () => {
			S === n && (S = null), O();
		}));
	}
	function w({ a: e, b: t, number: n }) {
		return S !== null && S.a === e && S.b === t && S.number === n;
	}
	function T() {
		t.busy === 0 && t.state?.can_redo && (S = null);
	}
	function E() {
		let e = t.question?.question;
		e && n([e.a, e.b]);
	}
	function ne() {
		j(t, {
			do: "choose",
			strategy: b.value
		}, A);
	}
	function O() {
		let n = t.question?.question, r = n != null && w(n);
		for (let e of g) e.setAttribute("aria-disabled", String(r || t.status !== "open"));
		e.setAttribute("aria-busy", String(r)), p(a, r ? Ot : Dt);
	}
	function k() {
		let n = t.question, o = n?.question ?? null;
		T(), o && w(o) || (S = null), o === null && _.contains(m(e)) && r.focus();
		for (let e of [
			i,
			a,
			s,
			_
		]) e.hidden = o === null;
		p(r, o?.number === void 0 ? "Question" : `Question ${o.number.toLocaleString("en-US")}`), p(u, n === null ? "Choosing a question…" : n.end ?? Ot), u.hidden = o !== null, p(v, n?.advice ?? ""), v.hidden = !n?.advice, c.hidden = !o || o.n_more === 0, s.replaceChildren(), p(x, o ? kt(o) : n?.end ?? ""), o && (s.append(Et(o, (e, n) => t.ask({
			do: "image",
			row: e,
			column: n
		}).then((e) => e.url))), s.scrollTop = 0, p(c, `and ${h(o.n_more, "more column")} with smaller differences`)), O();
	}
	function A() {
		let e = t.state;
		if (!e) return;
		let { together: n, apart: r, skipped: i } = e.counts;
		p(y, `${n} same, ${r} different, ${i} unsure`), T(), O(), b.value = e.strategy;
	}
	function M() {
		let e = (t.hello?.strategies ?? []).map(({ name: e, title: t }) => l("option", { value: e }, t));
		b.replaceChildren(...e), A();
	}
	return t.subscribe("question", k), t.subscribe("state", A), t.subscribe("hello", M), t.subscribe("connection", O), M(), k(), {
		answer: C,
		showOnMap: E
	};
}
// src/panels/placing.ts
var jt = .5, Mt = 2.2, Nt = 40, J = 16, Pt = ({ x: e, y: t }) => ({
	x: K(e, -1, 1),
	y: K(t, -1, 1)
});
function Ft(e, t) {
	return Math.min(...t.map(([, t, n]) => Math.hypot(e.x - t, e.y - n)), Infinity);
}
function It(e, t) {
	let n = 0, r = 0;
	for (let i of e) n += t[2 * i] / e.length, r += t[2 * i + 1] / e.length;
	return {
		x: n,
		y: r
	};
}
function Lt(e, t, n) {
	let r = Pt(e), i = Ft(r, t);
	for (let a = 1; a <= Nt && i < Mt * n; a++) for (let n = 0; n < J; n++) {
		let o = 2 * Math.PI * n / J, s = 2 * a / Nt, c = Pt({
			x: e.x + s * Math.cos(o),
			y: e.y + s * Math.sin(o)
		}), l = Ft(c, t);
		l > i && ([r, i] = [c, l]);
	}
	return r;
}
function Rt(e, t, n) {
	let r = e, i = -1;
	for (let a = 0; a < J; a++) {
		let o = 2 * Math.PI * a / J, s = jt * n, c = W(e.x + s * Math.cos(o), e.y + s * Math.sin(o)), l = Ft(c, t);
		l > i && ([r, i] = [c, l]);
	}
	return r;
}
// src/panels/selection.ts
function zt(e, t) {
	let { state: n, selection: r } = e;
	return !n || r.length === 0 || t.length !== 2 * e.nRows ? null : {
		state: n,
		rows: [...r]
	};
}
function Bt(e, t) {
	let n = zt(e, t);
	if (!n) return null;
	let { state: r, rows: i } = n, a = new Set(i), o = r.pins.filter(([e]) => !a.has(e));
	return {
		do: "move",
		rows: i,
		...Lt(It(i, t), o, r.eps),
		onto: null
	};
}
function Vt(e, t, n) {
	let r = zt(e, t);
	if (!r) return null;
	let { state: i } = r, a = r.rows.filter((t) => e.groupOf(t) !== n || !i.pins.some(([e]) => e === t));
	if (a.length === 0) return null;
	let o = new Set(a), s = i.pins.filter(([e]) => !o.has(e)), c = s.find(([t]) => e.groupOf(t) === n);
	if (c) {
		let t = s.filter(([t]) => e.groupOf(t) !== n);
		return {
			do: "move",
			rows: a,
			...Rt({
				x: c[1],
				y: c[2]
			}, [...t, c], i.eps),
			onto: null
		};
	}
	let l = [...e.panels?.groups.find(({ id: e }) => e === n)?.typical.map(({ row: e }) => e) ?? [], ...Ce(e, n)].find((t) => !o.has(t) && e.groupOf(t) === n);
	if (l === void 0) return null;
	let u = t[2 * l], d = t[2 * l + 1];
	return {
		do: "move",
		rows: a,
		...Rt({
			x: u,
			y: d
		}, s, i.eps),
		onto: [
			l,
			u,
			d
		]
	};
}
function Ht(e, t, n) {
	let r = l("strong", { role: "status" }), i = l("select", {
		class: "ml-input",
		"aria-label": "Add to group",
		onchange: f
	}), a = d({
		class: "ml-button",
		onclick: g
	}, "Unpin"), o = l("div", {
		class: "ml-selection",
		role: "region",
		"aria-label": "Selected rows",
		hidden: !0
	}, r, d({
		class: "ml-button primary",
		onclick: () => c(Bt(e, n.places))
	}, "Make a new group"), i, a, d({
		class: "ml-button",
		title: "Clear the selection (Escape)",
		onclick: u
	}, "Clear")), s = "";
	function c(t) {
		t && j(e, t);
	}
	function u() {
		e.select([]), t.focus({ preventScroll: !0 });
	}
	function f() {
		let t = Number(i.value);
		i.value = "", c(Vt(e, n.places, t));
	}
	function m() {
		let t = new Set(e.state?.pins.map(([e]) => e));
		return e.selection.filter((e) => t.has(e));
	}
	function g() {
		let e = m();
		e.length && c({
			do: "unpin",
			rows: e
		});
	}
	function _() {
		let t = e.state?.groups ?? [], n = JSON.stringify(t.map(({ id: e, name: t }) => [e, t]));
		if (n !== s) {
			let e = t.map(({ id: e, name: t }) => l("option", { value: e }, t));
			i.replaceChildren(l("option", { value: "" }, "Add to group…"), ...e), i.disabled = e.length === 0, s = n;
		}
		v();
	}
	function v() {
		let t = e.selection.length;
		o.hidden = t === 0, p(r, t ? `${h(t, "row")} selected` : ""), a.disabled = m().length === 0;
	}
	return e.subscribe("selection", v), e.subscribe("state", _), _(), o;
}
// src/panels/status.ts
var Ut = {
	instant: "instant result",
	final: "final result",
	working: "computing the final result…",
	failed: "no final result"
}, Wt = 1500, Gt = "Computing the first groups… You can answer questions meanwhile.", Kt = "Working on your last step… A first step of its kind takes longest, up to half a minute.";
function qt({ shown: e, groups: t }) {
	let { method: n, title: r, n_changed: i, status: a } = e;
	if (t.length === 0 && a === "working") return Gt;
	let o = i ? `${h(i, "row")} changed group` : "no row changed group", s = e.text || `${r}: ${o}.`;
	return (i > 0 && i >= t.reduce((e, { size: t }) => e + t, 0) ? s.replace(/[;:] [\d,]+ rows? changed( group)?/, `: ${h(t.length, "group")}`) : s).replace(`by ${n}`, `by ${r}`);
}
function Jt(e, t) {
	let n = l("span", {
		class: "ml-spinner",
		"aria-hidden": "true"
	}), r = l("span", { class: "ml-status-text" }), i = l("span", { class: "ml-tag" });
	e.setAttribute("aria-live", "polite"), e.append(n, r, i);
	let a = !1, o;
	function s() {
		t.busy === 0 ? (clearTimeout(o), o = void 0, a = !1) : o ??= setTimeout(() => {
			a = !0, c();
		}, Wt), c();
	}
	function c() {
		let o = t.state?.shown;
		p(r, t.notice || (a ? Kt : t.state ? qt(t.state) : "Loading…")), e.classList.toggle("warning", t.notice !== ""), p(i, o ? Ut[o.status] : "");
		let s = t.status === "open";
		i.hidden = !o || !s, n.hidden = !s || t.busy === 0 && o?.status !== "working" && t.awaitedView === null;
	}
	t.subscribe([
		"state",
		"notice",
		"view",
		"hello",
		"connection"
	], c), t.subscribe("busy", s), c();
}
// src/panels/tabs.ts
function Yt(e, t) {
	let n = t.map(({ title: e }) => d({
		role: "tab",
		id: o("tab"),
		class: "ml-tab",
		onclick: () => i(e)
	}, e)), r = t.map(({ content: e }, t) => {
		let r = l("div", {
			role: "tabpanel",
			id: o("tabpanel"),
			class: "ml-tab-panel",
			tabindex: 0,
			"aria-labelledby": n[t].id
		});
		return r.append(e), n[t].setAttribute("aria-controls", r.id), r;
	});
	function i(e) {
		t.forEach((t, i) => {
			let a = t.title === e;
			n[i].setAttribute("aria-selected", String(a)), n[i].tabIndex = a ? 0 : -1, r[i].hidden = !a;
		});
	}
	function a(e) {
		let r = n.findIndex((e) => e.getAttribute("aria-selected") === "true"), a = {
			ArrowRight: (r + 1) % n.length,
			ArrowLeft: (r - 1 + n.length) % n.length,
			Home: 0,
			End: n.length - 1
		}[e.key];
		a !== void 0 && (e.preventDefault(), i(t[a].title), n[a].focus());
	}
	return i(t[0].title), {
		element: l("div", { class: "ml-tabs" }, l("div", {
			role: "tablist",
			"aria-label": e,
			class: "ml-tab-list",
			onkeydown: a
		}, ...n), ...r),
		show: i
	};
}
// src/panels/icons.ts
var Xt = {
	pan: "M12 3v18M3 12h18M12 3l-3 3M12 3l3 3M12 21l-3-3M12 21l3-3M3 12l3-3M3 12l3 3M21 12l-3-3M21 12l-3 3",
	lasso: "M12 4c5 0 9 2.4 9 5.5S17 15 12 15 3 12.6 3 9.5 7 4 12 4M7 14c-1.5 1-1.5 3 0 3.5S9 19 8 21",
	undo: "M9 5 4 10l5 5M4 10h10a6 6 0 0 1 0 12h-3",
	redo: "M15 5l5 5-5 5M20 10H10a6 6 0 0 0 0 12h3",
	sun: "M12 7.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5",
	moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5",
	help: "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5M12 2.5a9.5 9.5 0 1 1 0 19 9.5 9.5 0 0 1 0-19"
};
function Y(e) {
	return u("svg", {
		viewBox: "0 0 24 24",
		"aria-hidden": "true"
	}, u("path", {
		d: Xt[e],
		fill: "none",
		stroke: "currentColor",
		"stroke-width": 1.8,
		"stroke-linecap": "round",
		"stroke-linejoin": "round"
	}));
}
// src/panels/toolbar.ts
var Zt = [
	[
		"pan",
		"Pan",
		"Move the map, drag rows (1)",
		() => Y("pan")
	],
	[
		"lasso",
		"Lasso",
		"Draw around rows to select them (2)",
		() => Y("lasso")
	],
	[
		"same",
		"Link same",
		"Draw a link between rows of the same group (3)",
		() => D(!0)
	],
	[
		"different",
		"Link different",
		"Draw a link between rows of different groups (4)",
		() => D(!1)
	]
], Qt = .01, $t = .4;
function X(e, t, ...n) {
	return t.id ||= o("field"), l("div", { class: "ml-field" }, l("label", { for: t.id }, e), t, ...n);
}
function en(e, t) {
	e.replaceChildren(...t.map(({ name: e, title: t, available: n, why: r }) => l("option", {
		value: e,
		disabled: !n,
		title: r
	}, n || !r ? t : `${t} (${r})`)));
}
function tn(e) {
	let t = l("select", {
		class: "ml-input",
		onchange: () => e.show(t.value)
	}), n = () => {
		t.value = e.awaitedView ?? e.view ?? "", t.setAttribute("aria-busy", String(e.awaitedView !== null));
	}, r = () => {
		en(t, e.hello?.views ?? []), n();
	};
	return e.subscribe("hello", r), e.subscribe("view", n), r(), X("View", t);
}
function nn(e) {
	let t = l("select", {
		class: "ml-input ml-method",
		onchange: r
	}), n = () => {
		t.value = e.state?.method ?? "";
	};
	function r() {
		j(e, {
			do: "choose",
			method: t.value
		}, n);
	}
	let i = () => {
		en(t, e.hello?.methods ?? []), n();
	};
	return e.subscribe("hello", i), e.subscribe("state", n), i(), X("Method", t);
}
function rn(e) {
	let t = l("input", {
		class: "ml-input ml-count",
		type: "number",
		min: 1,
		max: 1e3,
		step: 1,
		placeholder: "any",
		title: "Leave it empty to get as many groups as you make",
		onchange: i
	}), n = () => {
		document.activeElement !== t && (t.value = String(e.state?.n_clusters ?? ""));
	};
	function r() {
		t.value = String(e.state?.n_clusters ?? "");
	}
	function i() {
		let n = t.value === "" ? null : Number(t.value);
		t.checkValidity() ? n !== (e.state?.n_clusters ?? null) && j(e, {
			do: "choose",
			n_clusters: n
		}, r) : r();
	}
	return e.subscribe("state", n), n(), X("Number of groups", t);
}
function an(e) {
	let t = l("input", {
		type: "range",
		min: Qt,
		max: $t,
		step: .01,
		title: "Pinned rows nearer than this are in one group",
		oninput: () => p(n, r(Number(t.value))),
		onchange: () => j(e, {
			do: "choose",
			eps: Number(t.value)
		}, i)
	}), n = l("output", { class: "ml-radius" });
	n.htmlFor.add(t.id = o("radius"));
	let r = (e) => e.toFixed(2);
	function i() {
		e.state && (t.value = String(e.state.eps), p(n, r(e.state.eps)));
	}
	return e.subscribe("state", i), i(), X("Pin radius", t, n);
}
function on(e) {
	let t = Zt.map(([t, n, r, i]) => d({
		class: "ml-button",
		title: r,
		"data-mode": t,
		"aria-label": n,
		onclick: () => e.setMode(t)
	}, i(), l("span", { class: "ml-mode-title" }, n))), n = () => {
		for (let n of t) n.setAttribute("aria-pressed", String(n.dataset.mode === e.mode));
	};
	return e.subscribe("mode", n), n(), l("div", {
		class: "ml-modes",
		role: "group",
		"aria-label": "What the pointer does"
	}, ...t);
}
function sn(e) {
	let t = (t, n) => d({
		class: "ml-button",
		onclick: () => j(e, { do: t })
	}, Y(t), n), n = t("undo", f("Undo", "z")), r = t("redo", f("Redo", "y")), i = () => {
		n.disabled = !e.state?.can_undo, r.disabled = !e.state?.can_redo;
		let t = e.state?.history.at(-1);
		n.title = t ? `Undo: ${t.text}` : "There is nothing to undo";
	};
	return e.subscribe("state", i), i(), l("div", {
		class: "ml-undo",
		role: "group",
		"aria-label": "Undo and redo"
	}, n, r);
}
function cn(e, t, n) {
	let r = l("h1", { class: "ml-title" }, "mustlink studio"), i = d({
		class: "ml-button icon",
		onclick: n.toggleTheme
	}), a = d({
		class: "ml-button icon",
		"aria-label": "Help and keys",
		title: "Help and keys (?)",
		onclick: n.openHelp
	}, Y("help")), s = l("div", {
		class: "ml-fields",
		id: o("fields"),
		role: "group",
		"aria-label": "Settings"
	}, tn(t), nn(t), rn(t), an(t)), c = d({
		class: "ml-button ml-settings",
		"aria-expanded": "false",
		"aria-controls": s.id,
		onclick: u
	}, "Settings");
	function u() {
		let e = s.classList.toggle("open");
		c.setAttribute("aria-expanded", String(e));
	}
	e.append(r, s, c, sn(t), l("div", { class: "ml-toolbar-end" }, i, a));
	let f = () => {
		t.hello && p(r, t.hello.title), r.title = t.hello?.file ?? "";
	};
	return t.subscribe("hello", f), f(), { showTheme(e) {
		let t = e === "dark" ? "light" : "dark";
		i.replaceChildren(Y(e === "dark" ? "sun" : "moon")), i.setAttribute("aria-label", `Use the ${t} theme`), i.title = `Use the ${t} theme`;
	} };
}
// src/panels/index.ts
function ln(e, t, n) {
	let { root: r } = e, i = (r) => {
		t.select(r), n.focus(r), e.map.scrollIntoView({ block: "nearest" });
	}, a = () => ct(r), o = cn(e.toolbar, t, {
		toggleTheme: () => s.toggle(),
		openHelp: a
	}), s = Xe(r, (e) => {
		be(r, e), o.showTheme(e);
	}), c = At(e.question, t, i), l = Yt("Panels", [
		{
			title: "Groups",
			content: De(t, i)
		},
		{
			title: "Links",
			content: xt(t, i)
		},
		{
			title: "Columns",
			content: x(t)
		},
		{
			title: "History",
			content: ft(t)
		},
		{
			title: "Export",
			content: pe(t)
		}
	]);
	e.side.append(l.element), e.banner.append(y(t)), e.map.append(on(t), b(t), Ht(t, e.plot, n)), Jt(e.status, t), le(r, t);
	let u = ot(r, {
		store: t,
		question: c,
		openHelp: a
	});
	return () => {
		u(), s.destroy();
	};
}
// src/plot/theme.ts
function un(e) {
	let t = getComputedStyle(e), n = (e) => t.getPropertyValue(`--ml-${e}`).trim();
	return {
		dark: dn(e),
		back: n("back"),
		text: n("text"),
		quiet: n("quiet"),
		line: n("line"),
		accent: n("accent"),
		danger: n("danger"),
		font: n("font")
	};
}
function dn(e) {
	let t = e.dataset.theme;
	return t === "dark" || t !== "light" && matchMedia("(prefers-color-scheme: dark)").matches;
}
function fn(e, t) {
	let n = matchMedia("(prefers-color-scheme: dark)"), r = new MutationObserver(t);
	return r.observe(e, { attributeFilter: ["data-theme"] }), n.addEventListener("change", t), () => {
		r.disconnect(), n.removeEventListener("change", t);
	};
}
function pn() {
	return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
// src/plot/card.ts
var mn = 120, hn = 8, gn = 160, _n = "http://www.w3.org/2000/svg", vn = class {
	parent;
	store;
	root;
	element = document.createElement("div");
	timer;
	row = null;
	constructor(e, t, n) {
		this.parent = e, this.store = t, this.root = n, this.element.className = "ml-card", this.element.setAttribute("role", "tooltip"), this.element.hidden = !0, e.append(this.element);
	}
	showSoon(e, t, n) {
		e !== this.row && (this.hide(), this.row = e, this.timer = setTimeout(() => void this.show(e, t, n), mn));
	}
	async show(e, t, n) {
		clearTimeout(this.timer), this.row = e;
		try {
			let r = await this.store.row(e);
			return this.row === e ? (this.fill(r), this.place(t, n), r) : null;
		} catch {
			return null;
		}
	}
	fill(e) {
		let t = document.createElement("div");
		t.className = "ml-card-head";
		let n = document.createElement("strong");
		n.textContent = e.name, t.append(n, this.groupMark(this.store.groupOf(e.row))), e.pinned && t.append(yn("pinned", "ml-card-pinned"));
		let r = document.createElement("dl");
		for (let t of e.cells.filter((e) => e.kind !== "image").slice(0, hn)) {
			let [e, n] = [document.createElement("dt"), document.createElement("dd")];
			e.textContent = t.column, n.textContent = t.text.length > gn ? `${t.text.slice(0, gn)}\u2026` : t.text, r.append(e, n);
		}
		this.element.replaceChildren(t, r), e.cells.length > hn && this.element.append(yn(`and ${e.cells.length - hn} more columns`, "ml-card-more"));
	}
	groupMark(e) {
		let t = document.createElement("span");
		t.className = "ml-card-group";
		let n = document.createElementNS(_n, "svg");
		n.setAttribute("viewBox", "-1.5 -1.5 3 3"), n.setAttribute("aria-hidden", "true");
		let r = document.createElementNS(_n, "path");
		r.setAttribute("d", z(R(e))), r.setAttribute("fill", L(e, dn(this.root))), n.append(r);
		let i = this.store.state?.groups.find((t) => t.id === e)?.name ?? "no group";
		return t.append(n, i), t;
	}
	place(e, t) {
		let { element: n, parent: r } = this;
		n.hidden = !1;
		let [i, a] = [n.offsetWidth, n.offsetHeight], o = e + 18 + i > r.clientWidth ? e - 18 - i : e + 18, s = t + 14 + a > r.clientHeight ? t - 14 - a : t + 14;
		n.style.left = `${Math.max(4, o)}px`, n.style.top = `${Math.max(4, s)}px`;
	}
	hide() {
		clearTimeout(this.timer), this.row = null, this.element.hidden = !0;
	}
	destroy() {
		this.hide(), this.element.remove();
	}
};
function yn(e, t) {
	let n = document.createElement("span");
	return n.className = t, n.textContent = e, n;
}
// src/layout/worker.ts?worker&inline
var bn = "(function(){function e(e,t){let n=/* @__PURE__ */ new Map;for(let[r,i,a]of e){let e=t[r];if(e===void 0||e===65535)continue;let o=n.get(e)??{x:0,y:0,count:0};n.set(e,{x:o.x+i,y:o.y+a,count:o.count+1})}let r=new Map([...n.keys()].map(e=>[e,[]]));return t.forEach((e,t)=>r.get(e)?.push(t)),[...n].map(([e,{x:t,y:n,count:i}])=>({x:t/i,y:n/i,rows:Uint32Array.from(r.get(e))}))}var t=class{x;y;children;mass;cx;cy;next;stack;nCells=0;x0;y0;side;constructor(e,t){this.x=e,this.y=t;let n=e.length,[r,i,a,o]=[1/0,1/0,-1/0,-1/0];for(let s=0;s<n;s++)r=Math.min(r,e[s]),i=Math.min(i,t[s]),a=Math.max(a,e[s]),o=Math.max(o,t[s]);this.x0=r,this.y0=i,this.side=Math.max(a-r,o-i,1e-9)*1.0001;let s=4*n+40+8;this.children=new Int32Array(4*s).fill(-1),this.mass=new Float64Array(s),this.cx=new Float64Array(s),this.cy=new Float64Array(s),this.next=new Int32Array(n).fill(-1),this.stack=/* @__PURE__ */ new Int32Array(336),n>0&&(this.nCells=1);for(let e=0;e<n;e++)this.insert(e);n>0&&this.sum(0)}insert(e){let t=this.x[e],n=this.y[e],r=0,[i,a,o]=[this.x0,this.y0,this.side];for(let s=0;;s++){o/=2;let c=+(t>=i+o),l=+(n>=a+o);i+=c*o,a+=l*o;let u=4*r+c+2*l,d=this.children[u];if(d===-1){this.children[u]=-2-e;return}if(d>=0){r=d;continue}let f=-2-d;if(this.x[f]===t&&this.y[f]===n||s>=40||4*(this.nCells+1)>this.children.length){this.next[e]=f,this.children[u]=-2-e;return}let p=this.nCells++;this.children[u]=p;let m=+(this.x[f]>=i+o/2),h=+(this.y[f]>=a+o/2);this.children[4*p+m+2*h]=d,r=p}}sum(e){for(let t=this.nCells-1;t>=e;t--){let[e,n,r]=[0,0,0];for(let i=0;i<4;i++){let a=this.children[4*t+i];if(a>=0)e+=this.mass[a],n+=this.mass[a]*this.cx[a],r+=this.mass[a]*this.cy[a];else if(a!==-1)for(let t=-2-a;t!==-1;t=this.next[t])e+=1,n+=this.x[t],r+=this.y[t]}this.mass[t]=e,this.cx[t]=n/e,this.cy[t]=r/e}}addRepulsion(e,t,n,r){for(let i=0;i<this.x.length;i++)this.repel(i,e,t,n,r*r)}repel(e,t,i,a,o){let{children:s,stack:c,mass:l,cx:u,cy:d,x:f,y:p,next:m}=this,h=f[e],g=p[e],_=0,v=0,y=0;for(c[y++]=0,c[y++]=0;y>0;){let t=c[--y],i=c[--y],b=this.side*2**-(t+1);for(let x=0;x<4;x++){let S=s[4*i+x];if(S!==-1){if(S>=0){let e=h-u[S],n=g-d[S],r=e*e+n*n;if(b*b<o*r){let t=a*l[S]/(r*Math.sqrt(r));_+=t*e,v+=t*n}else c[y++]=S,c[y++]=t+1}else for(let t=-2-S;t!==-1;t=m[t]){if(t===e)continue;let i=h-f[t],o=g-p[t];i===0&&o===0&&([i,o]=r(e,t));let s=Math.max(i*i+o*o,n),c=a/(s*Math.sqrt(s));_+=c*i,v+=c*o}}}}t[e]+=_,i[e]+=v}};let n=1e-4;function r(e,t){let[n,r]=e<t?[e,t]:[t,e],i=2.399963*(n+1)+1.618034*r,a=e<t?1:-1;return[a*.01*Math.cos(i),a*.01*Math.sin(i)]}let i={edgeStrength:2e-5,groupStrength:4e-5,length:50,repulsion:1,drag:.01,theta:.9,speedLimit:1,timeStep:50,minSpeed:.001};var a=class{edges;halfSize;constants;x;y;n;vx;vy;fx;fy;pinned;centers=[];step=0;alpha=1;constructor(e,t,n,r=i){this.edges=t,this.halfSize=n,this.constants=r,this.n=e.length/2,this.x=Float64Array.from({length:this.n},(t,n)=>e[2*n]),this.y=Float64Array.from({length:this.n},(t,n)=>e[2*n+1]),this.vx=new Float64Array(this.n),this.vy=new Float64Array(this.n),this.fx=new Float64Array(this.n),this.fy=new Float64Array(this.n),this.pinned=new Uint8Array(this.n),this.chooseStep()}pin(e){this.pinned.fill(0);for(let[t,n,r]of e)this.pinned[t]=1,this.x[t]=n,this.y[t]=r,this.vx[t]=this.vy[t]=0}setCenters(e){this.centers=e,this.chooseStep()}chooseStep(){let e=new Float64Array(this.n);for(let t of this.edges)e[t]+=2*this.constants.edgeStrength;for(let{rows:t}of this.centers)for(let n of t)e[n]+=this.constants.groupStrength;let t=e.reduce((e,t)=>Math.max(e,t),0);this.step=Math.min(this.constants.timeStep,1/Math.sqrt(Math.max(t,1e-12)))}sumForces(){this.fx.fill(0),this.fy.fill(0),this.repel(),this.pullEdges(),this.pullToCenters()}repel(){let{repulsion:e,theta:n}=this.constants;e!==0&&new t(this.x,this.y).addRepulsion(this.fx,this.fy,e,n)}pullEdges(){let{x:e,y:t,fx:n,fy:r,edges:i}=this,{edgeStrength:a,length:o}=this.constants;for(let s=0;s<i.length;s+=2){let c=i[s],l=i[s+1],u=e[l]-e[c],d=t[l]-t[c],f=Math.hypot(u,d);if(f===0)continue;let p=a*(f-o)/f;n[c]+=p*u,r[c]+=p*d,n[l]-=p*u,r[l]-=p*d}}pullToCenters(){let{x:e,y:t,fx:n,fy:r}=this,{groupStrength:i,length:a}=this.constants;for(let o of this.centers)for(let s of o.rows){let c=o.x-e[s],l=o.y-t[s],u=Math.hypot(c,l);if(u===0)continue;let d=i*(u-a)/u;n[s]+=d*c,r[s]+=d*l}}advance(){this.sumForces();let{x:e,y:t,vx:n,vy:r,fx:i,fy:a,pinned:o,halfSize:s}=this,{drag:c,speedLimit:l}=this.constants,u=this.step*this.alpha,d=Math.exp(-c*u),f=0;for(let c=0;c<this.n;c++){if(o[c])continue;let p=d*n[c]+u*i[c],m=d*r[c]+u*a[c],h=Math.hypot(p,m);h>l&&(p*=l/h,m*=l/h),n[c]=p,r[c]=m,e[c]=Math.max(-s,Math.min(s,e[c]+u*p)),t[c]=Math.max(-s,Math.min(s,t[c]+u*m)),f=Math.max(f,Math.min(h,l))}return f}};function o(e){return Math.max(500,50*Math.sqrt(e))}var s=class{springs;unit;isAtRest=!1;constructor(e,t){this.unit=o(e.length/2),this.springs=new a(e.map(e=>e*this.unit),t,this.unit)}know(t,n){let r=t.map(([e,t,n])=>[e,t*this.unit,n*this.unit]);this.springs.pin(r),this.springs.setCenters(t.length>1?e(r,n):[]),this.springs.alpha=1,this.isAtRest=!1}step(){let{springs:e}=this,t=e.advance();e.alpha*=.9772,this.isAtRest=t<i.minSpeed||e.alpha<.001}write(e){let{x:t,y:n}=this.springs;for(let r=0;r<this.springs.n;r++)e[2*r]=t[r]/this.unit,e[2*r+1]=n[r]/this.unit;return e}};let c=null,l=null,u=!1,d;function f(e){self.postMessage(e,{transfer:[e.positions.buffer]})}function p(){if(d=void 0,!c||!l||c.isAtRest)return;let e=performance.now()+(u?200:14);do c.step();while(!c.isAtRest&&performance.now()<e);if(u&&!c.isAtRest){m();return}let t=c.write(l);l=null,f({positions:t,isAtRest:c.isAtRest})}function m(){d??=setTimeout(p,0)}self.onmessage=({data:e})=>{switch(e.do){case`start`:c=new s(e.positions,e.edges),l=e.positions,u=e.untilRest;break;case`know`:c?.know(e.pins,e.labels);break;case`next`:l=e.positions}m()}})();", xn = typeof self < "u" && self.Blob && new Blob(["(self.URL || self.webkitURL).revokeObjectURL(self.location.href);", bn], { type: "text/javascript;charset=utf-8" });
function Sn(e) {
	let t;
	try {
		if (t = xn && (self.URL || self.webkitURL).createObjectURL(xn), !t) throw "";
		let n = new Worker(t, { name: e?.name });
		return n.addEventListener("error", () => {
			(self.URL || self.webkitURL).revokeObjectURL(t);
		}), n;
	} catch {
		return new Worker("data:text/javascript;charset=utf-8," + encodeURIComponent(bn), { name: e?.name });
	}
}
// src/layout/driver.ts
var Cn = class {
	store;
	isReduced;
	draw;
	worker = null;
	known = {
		pins: null,
		labels: null
	};
	last = null;
	isAtRest = !0;
	constructor(e, t, n) {
		this.store = e, this.isReduced = t, this.draw = n;
	}
	update() {
		let { store: e } = this, t = e.shownPositions;
		if (!(e.view === "spring" && e.edges.length > 0 && t !== null && e.state !== null)) {
			this.stop();
			return;
		}
		this.worker || this.start(this.placesFor(t));
		let { pins: n } = e.state;
		(JSON.stringify(n) !== this.known.pins || e.labels !== this.known.labels) && (this.known = {
			pins: JSON.stringify(n),
			labels: e.labels
		}, this.isAtRest = !1, this.post({
			do: "know",
			pins: n,
			labels: e.labels
		}));
	}
	placesFor(e) {
		return this.last?.length === e.length ? this.last : e;
	}
	start(e) {
		this.worker = new Sn(), this.worker.onmessage = ({ data: e }) => this.receive(e), this.worker.onerror = () => {
			this.store.setNotice("The spring layout stopped because of an error; the rows stay where they are."), this.stop();
		};
		let t = e.slice();
		this.post({
			do: "start",
			positions: t,
			edges: this.store.edges,
			untilRest: this.isReduced()
		}, [t.buffer]);
	}
	receive({ positions: e, isAtRest: t }) {
		this.isAtRest = t, this.last = e.slice(), this.draw(this.last), requestAnimationFrame(() => this.post({
			do: "next",
			positions: e
		}, [e.buffer]));
	}
	post(e, t = []) {
		this.worker?.postMessage(e, t);
	}
	stop() {
		this.worker?.terminate(), this.worker = null, this.known = {
			pins: null,
			labels: null
		}, this.isAtRest = !0;
	}
	reset() {
		this.stop(), this.last = null;
	}
}, wn = 450, Tn = class {
	positions = /* @__PURE__ */ new Float32Array();
	held = /* @__PURE__ */ new Map();
	base = /* @__PURE__ */ new Float32Array();
	pins = [];
	from = null;
	to = null;
	startedAt = 0;
	index = null;
	get n() {
		return this.positions.length / 2;
	}
	get grid() {
		return this.index ??= new je(this.positions);
	}
	get isMoving() {
		return this.to !== null;
	}
	get target() {
		return this.to ?? this.positions;
	}
	setBase(e, t, n) {
		this.base = e, this.aim(t, n);
	}
	setPins(e, t, n) {
		this.pins = e, this.aim(t, n);
	}
	aim(e, t) {
		let n = this.base.slice();
		for (let [e, t, r] of this.pins) n[2 * e] = t, n[2 * e + 1] = r;
		for (let [e, [t, r]] of this.held) n[2 * e] = t, n[2 * e + 1] = r;
		e && this.positions.length === n.length && !En(this.to ?? this.positions, n) ? (this.from = this.positions.slice(), this.to = n, this.startedAt = t) : e && this.positions.length === n.length || (this.from = this.to = null, this.positions = n, this.index = null);
	}
	step(e) {
		let { from: t, to: n } = this;
		if (!t || !n) return !1;
		let r = Math.min(1, (e - this.startedAt) / wn);
		if (r >= 1) this.positions = n, this.from = this.to = null;
		else {
			let e = r < .5 ? 4 * r ** 3 : 1 - (-2 * r + 2) ** 3 / 2;
			for (let r = 0; r < n.length; r++) this.positions[r] = t[r] + e * (n[r] - t[r]);
		}
		return this.index = null, !0;
	}
};
function En(e, t) {
	for (let n = 0; n < e.length; n++) if (e[n] !== t[n]) return !1;
	return !0;
}
// src/plot/labels.ts
var Dn = 201;
function On(e) {
	let t = /* @__PURE__ */ new Uint32Array(65536);
	for (let n = 0; n < e.length; n++) t[e[n]]++;
	let n = t.map((e) => Math.max(1, Math.floor(e / Dn))), r = /* @__PURE__ */ new Uint32Array(65536), i = /* @__PURE__ */ new Map();
	for (let t = 0; t < e.length; t++) {
		let a = e[t], o = r[a]++;
		if (a === 65535 || o % n[a] !== 0) continue;
		let s = i.get(a);
		s ? s.push(t) : i.set(a, [t]);
	}
	return i;
}
function kn(e, t) {
	let n = (n) => {
		let r = Float32Array.from(e, (e) => t[2 * e + n]).sort();
		return r[Math.floor(r.length / 2)];
	};
	return {
		x: n(0),
		y: n(1)
	};
}
// src/plot/overlay.ts
var An = 60, jn = 3e3, Mn = 3, Nn = 2 * Math.PI;
function Pn(e, t) {
	e.clearRect(0, 0, t.camera.width, t.camera.height), t.drawn.n !== 0 && (Ln(e, t), t.changed.length <= jn && Q(e, t, t.changed, t.radius + 1.5, t.theme.text, 1.25), Rn(e, t), zn(e, t), Un(e, t), Bn(e, t), Hn(e, t), t.lasso && Jn(e, t, t.lasso), t.line && Yn(e, t), t.ghost && Xn(e, t));
}
function Z({ camera: e, drawn: t }, n) {
	return [e.screenX(t.positions[2 * n]), e.screenY(t.positions[2 * n + 1])];
}
function Fn({ store: e }) {
	let t = e.state?.links ?? [], n = new Set(e.selection.length <= 50 ? e.selection : []);
	e.hovered !== null && n.add(e.hovered);
	let r = t.filter((e) => e.source !== "pin" && e.source !== "lock").length <= An;
	return t.filter((e) => n.has(e.a) || n.has(e.b) || r && e.source !== "pin" && e.source !== "lock");
}
function In(e, t, n, r, i) {
	e.beginPath(), e.moveTo(...r), e.lineTo(...i);
	let a = e.lineWidth;
	e.strokeStyle = t.theme.back, e.lineWidth = a + 2, e.stroke(), e.lineWidth = a, e.setLineDash(n ? [] : [6, 4]), e.strokeStyle = n ? t.theme.text : t.theme.danger, e.stroke(), e.setLineDash([]);
}
function Ln(e, t) {
	let n = t.store.refused?.chain ?? [];
	e.lineWidth = 1.5, e.globalAlpha = n.length ? .25 : .7;
	for (let n of Fn(t)) In(e, t, n.together, Z(t, n.a), Z(t, n.b));
	e.globalAlpha = 1, e.lineWidth = 3;
	for (let r of n) In(e, t, r.together, Z(t, r.a), Z(t, r.b));
}
function Rn(e, t) {
	let { selection: n } = t.store;
	if (n.length === 0) return;
	let { theme: r, radius: i } = t;
	if (n.length > jn) {
		e.fillStyle = r.text;
		for (let r of n) {
			let [n, i] = Z(t, r);
			e.fillRect(n - 1, i - 1, 2, 2);
		}
	} else Q(e, t, n, i + 3, r.back, 3.5), Q(e, t, n, i + 3, r.text, 1.75);
}
function Q(e, t, n, r, i, a) {
	e.beginPath();
	for (let i of n) {
		let [n, a] = Z(t, i);
		e.moveTo(n + r, a), e.arc(n, a, r, 0, Nn);
	}
	e.strokeStyle = i, e.lineWidth = a, e.stroke();
}
function zn(e, t) {
	let n = (t.store.state?.pins ?? []).map(([e]) => e).concat([...t.drawn.held.keys()]);
	if (n.length === 0) return;
	let { accent: r } = t.theme, i = n.length > 40;
	Q(e, t, n, t.radius + 2.5, r, i ? 1 : 1.5), i || Q(e, t, n, t.radius + 5.5, r, 1.5);
}
function Bn(e, t) {
	let n = t.store.question?.question;
	if (!n || n.a >= t.drawn.n || n.b >= t.drawn.n) return;
	let { theme: r, radius: i } = t, [a, o] = [Z(t, n.a), Z(t, n.b)];
	e.strokeStyle = r.accent, e.lineWidth = 1.5, e.setLineDash([1.5, 4]), e.beginPath(), e.moveTo(...a), e.lineTo(...o), e.stroke(), e.setLineDash([]), Q(e, t, [n.a, n.b], i + 6, r.back, 5), Q(e, t, [n.a, n.b], i + 6, r.accent, 2.5), Vn(e, t, a, "1"), Vn(e, t, o, "2");
}
function Vn(e, { theme: t, radius: n }, [r, i], a) {
	let [o, s] = [r + n + 9, i - n - 9];
	e.beginPath(), e.arc(o, s, 8, 0, Nn), e.fillStyle = t.accent, e.fill(), e.fillStyle = t.back, e.font = `700 11px ${t.font}`, e.textAlign = "center", e.textBaseline = "middle", e.fillText(a, o, s + .5);
}
function Hn(e, t) {
	let { theme: n, radius: r, store: i, cursor: a } = t;
	if (i.hovered !== null && Q(e, t, [i.hovered], r + 2, n.text, 2), a === null) return;
	let [o, s] = Z(t, a), c = r + 7;
	e.lineWidth = 5, e.strokeStyle = n.back, e.strokeRect(o - c, s - c, 2 * c, 2 * c), e.lineWidth = 2, e.strokeStyle = n.text, e.strokeRect(o - c, s - c, 2 * c, 2 * c);
}
function Un(e, t) {
	let { camera: n, theme: r, store: i, labels: a } = t, o = new Map(i.state?.groups.map((e) => [e.id, e])), s = Wn(t);
	e.font = `600 13px ${r.font}`, e.textAlign = "left", e.textBaseline = "middle";
	let c = a.flatMap((e) => {
		let t = o.get(e.group);
		return t ? [{
			...e,
			name: t.name,
			size: t.size,
			locked: t.locked
		}] : [];
	});
	for (let r of c.sort((e, t) => t.size - e.size)) {
		let i = qn(r.name) + (r.locked ? " (locked)" : ""), a = e.measureText(i).width + 20, o = n.screenX(r.x) - a / 2, c = n.screenY(r.y) - (r.size <= Mn ? t.radius + 18 : 0);
		if (o + a < 0 || o > n.width || c < -10 || c > n.height + 10) continue;
		let l = [
			0,
			20,
			-20,
			40,
			-40
		].map((e) => c + e).find((e) => Gn(s, o, e, a));
		l !== void 0 && (s.push([
			o,
			l,
			a,
			20
		]), Kn(e, t, r.group, i, o, l));
	}
}
function Wn(e) {
	let t = e.store.question?.question;
	return !t || t.a >= e.drawn.n || t.b >= e.drawn.n ? [] : [t.a, t.b].map((t) => {
		let [n, r] = Z(e, t);
		return [
			n - e.radius - 8,
			r - 8,
			2 * e.radius + 26,
			20
		];
	});
}
function Gn(e, t, n, r) {
	return e.every(([e, i, a]) => t + r < e || e + a < t || Math.abs(i - n) >= 20);
}
function Kn(e, { theme: t }, n, r, i, a) {
	e.fillStyle = t.back, e.globalAlpha = .85, e.beginPath(), e.roundRect(i - 3, a - 10, e.measureText(r).width + 26, 20, 5), e.fill(), e.globalAlpha = 1, e.fillStyle = t.text, e.fillText(r, i + 18, a + .5), e.save(), e.translate(i + 8, a), e.scale(6, 6), e.fillStyle = L(n, t.dark), e.fill(new Path2D(z(R(n)))), e.restore();
}
function qn(e) {
	return e.length > 28 ? `${e.slice(0, 27)}\u2026` : e;
}
function Jn(e, { camera: t, theme: n }, r) {
	e.beginPath();
	for (let n = 0; n < r.length; n += 2) e.lineTo(t.screenX(r[n]), t.screenY(r[n + 1]));
	e.closePath(), e.fillStyle = e.strokeStyle = n.accent, e.globalAlpha = .12, e.fill(), e.globalAlpha = 1, e.lineWidth = 1.5, e.setLineDash([4, 3]), e.stroke(), e.setLineDash([]);
}
function Yn(e, t) {
	let { line: n, camera: r, radius: i, theme: a } = t;
	if (!n) return;
	let o = n.to === null ? [r.screenX(n.x), r.screenY(n.y)] : Z(t, n.to);
	e.lineWidth = 2.5, In(e, t, n.together, Z(t, n.from), o), Q(e, t, n.to === null ? [n.from] : [n.from, n.to], i + 4, n.together ? a.text : a.danger, 2);
}
function Xn(e, t) {
	let { ghost: n, camera: r, theme: i, store: a, radius: o } = t;
	if (!n) return;
	let [s, c] = [r.screenX(n.x), r.screenY(n.y)], l = n.rows[0];
	e.globalAlpha = .5, e.setLineDash([3, 3]), e.lineWidth = 1, e.strokeStyle = i.text, e.beginPath(), e.moveTo(...Z(t, l)), e.lineTo(s, c), e.stroke(), e.setLineDash([]), e.globalAlpha = 1, n.onto && Q(e, t, [n.onto[0]], o + 4, i.accent, 2.5), e.save(), e.translate(s, c), e.scale(o + 3, o + 3);
	let u = a.groupOf(l);
	e.fillStyle = L(u, i.dark), e.fill(new Path2D(z(R(u)))), e.restore(), Qn(e, t, s, c, Zn(t));
}
function Zn({ ghost: e, store: t }) {
	if (!e) return "";
	let n = e.rows.length > 1 ? `${e.rows.length} rows ` : "";
	if (!e.onto) return `${n}to a new place`;
	let r = t.groupOf(e.onto[0]), i = t.state?.groups.find((e) => e.id === r)?.name;
	return i ? `${n}into ${qn(i)}` : `${n}together with this row`;
}
function Qn(e, { theme: t, camera: n }, r, i, a) {
	e.font = `500 12px ${t.font}`;
	let o = e.measureText(a).width + 14, s = K(r + 16, 4, n.width - o - 4), c = K(i + 16, 4, n.height - 28);
	e.fillStyle = t.text, e.beginPath(), e.roundRect(s, c, o, 24, 5), e.fill(), e.fillStyle = t.back, e.textAlign = "left", e.textBaseline = "middle", e.fillText(a, s + 7, c + 12.5);
}
// src/plot/canvaspoints.ts
var $n = class {
	canvas;
	kind = "canvas";
	context;
	positions = /* @__PURE__ */ new Float32Array();
	styles = /* @__PURE__ */ new Uint8Array();
	colors = /* @__PURE__ */ new Uint8Array(27);
	ratio = 1;
	image = null;
	stamps = [];
	stampKey = "";
	constructor(e) {
		this.canvas = e;
		let t = e.getContext("2d");
		if (!t) throw Error("This browser has no canvas.");
		this.context = t, this.setDark(!1);
	}
	resize(e, t, n) {
		this.ratio = n, this.canvas.width = Math.round(e * n), this.canvas.height = Math.round(t * n), this.image = null;
	}
	setPositions(e) {
		this.positions = e;
	}
	setStyles(e) {
		this.styles = e;
	}
	setDark(e) {
		this.colors = Uint8Array.from(_e(e), (e) => Math.round(255 * e));
	}
	draw(e, t) {
		let { width: n, height: r } = this.canvas;
		if (n === 0 || r === 0) return;
		this.image ??= this.context.createImageData(n, r);
		let i = new Uint8Array(this.image.data.buffer);
		i.fill(0), this.styles.length >= 2 * this.positions.length && (this.prepareStamps(t), this.blend(i, e, t >= 3), er(i)), this.context.putImageData(this.image, 0, 0);
	}
	blend(e, t, n) {
		let { positions: r, styles: i, ratio: a } = this, { width: o, height: s } = this.canvas;
		for (let c = 0; c < r.length / 2; c++) {
			let l = this.stamps[n ? i[4 * c + 1] : 0], u = Math.round(a * t.screenX(r[2 * c]) - l.side / 2), d = Math.round(a * t.screenY(r[2 * c + 1]) - l.side / 2);
			u < 0 || d < 0 || u + l.side > o || d + l.side > s || this.blendOne(e, l, u, d, 3 * i[4 * c], i[4 * c + 2]);
		}
	}
	blendOne(e, { side: t, covered: n }, r, i, a, o) {
		let { colors: s } = this, { width: c } = this.canvas, [l, u, d] = [
			s[a],
			s[a + 1],
			s[a + 2]
		];
		for (let a = 0, s = 0; a < t; a++) {
			let f = 4 * ((i + a) * c + r);
			for (let r = 0; r < t; r++, s++, f += 4) {
				let t = n[s];
				if (t === 0) continue;
				let r = (t * o * 257 + 32768 >> 16) * 257, [i, a, c, p] = [
					e[f],
					e[f + 1],
					e[f + 2],
					e[f + 3]
				];
				e[f] = i + ((l - i) * r + 32768 >> 16), e[f + 1] = a + ((u - a) * r + 32768 >> 16), e[f + 2] = c + ((d - c) * r + 32768 >> 16), e[f + 3] = p + ((255 - p) * r + 32768 >> 16);
			}
		}
	}
	prepareStamps(e) {
		let t = e * this.ratio, n = e >= 3, r = `${t} ${n}`;
		r !== this.stampKey && (this.stampKey = r, this.stamps = F.slice(0, n ? F.length : 1).map((e) => {
			let r = 2 * Math.ceil((n ? 1.4 : 1) * t + .5), i = document.createElement("canvas");
			i.width = i.height = r;
			let a = i.getContext("2d", { willReadFrequently: !0 });
			a.translate(r / 2, r / 2), a.scale(t, t), a.fill(new Path2D(z(e)));
			let { data: o } = a.getImageData(0, 0, r, r);
			return {
				side: r,
				covered: Uint8Array.from({ length: r * r }, (e, t) => o[4 * t + 3])
			};
		}));
	}
	destroy() {
		this.canvas.remove();
	}
};
function er(e) {
	for (let t = 0; t < e.length; t += 4) {
		let n = e[t + 3];
		if (n === 0 || n === 255) continue;
		let r = 255 / n;
		e[t] = Math.min(255, r * e[t]), e[t + 1] = Math.min(255, r * e[t + 1]), e[t + 2] = Math.min(255, r * e[t + 2]);
	}
}
// src/plot/glpoints.ts
var tr = "\nattribute vec2 position;\nattribute vec4 style;\nuniform vec2 center;\nuniform vec2 scale;\nuniform float size;\nuniform vec3 palette[9];\nvarying vec4 color;\nvarying float shape;\nvoid main() {\n  gl_Position = vec4((position - center) * scale, 0.0, 1.0);\n  gl_PointSize = size;\n  color = vec4(palette[int(style.x + 0.5)], style.z / 255.0);\n  shape = style.y;\n}", nr = "\nprecision mediump float;\nuniform float radius;\nuniform float extent;\nuniform bool discs;\nvarying vec4 color;\nvarying float shape;\n\nfloat box(vec2 p, vec2 half_size) {\n  vec2 d = abs(p) - half_size;\n  return max(d.x, d.y);\n}\nfloat triangle(vec2 p) {\n  return max(p.y - 0.8, 0.872 * abs(p.x) - 0.489 * p.y - 0.611);\n}\nfloat plus_sign(vec2 p) {\n  return min(box(p, vec2(0.42, 1.2)), box(p, vec2(1.2, 0.42)));\n}\nfloat star(vec2 p) {\n  float angle = atan(p.x, -p.y);\n  float part = 0.6283185;\n  angle = abs(mod(angle + part, 2.0 * part) - part);\n  vec2 q = length(p) * vec2(cos(angle), sin(angle));\n  vec2 tip = vec2(1.35, 0.0);\n  vec2 notch = 0.62 * vec2(cos(part), sin(part));\n  vec2 edge = notch - tip;\n  return dot(q - tip, normalize(vec2(edge.y, -edge.x)));\n}\nfloat outline(vec2 p) {\n  if (discs || shape < 0.5) return length(p) - 1.0;\n  if (shape < 1.5) return box(p, vec2(0.88));\n  if (shape < 2.5) return triangle(p);\n  if (shape < 3.5) return (abs(p.x) + abs(p.y) - 1.25) * 0.7071;\n  if (shape < 4.5) return triangle(vec2(p.x, -p.y));\n  if (shape < 5.5) return plus_sign(p);\n  if (shape < 6.5) return plus_sign(vec2(p.x + p.y, p.x - p.y) * 0.7071);\n  return star(p);\n}\nvoid main() {\n  vec2 p = (gl_PointCoord - 0.5) * extent;\n  float alpha = color.a * clamp(0.5 - outline(p) * radius, 0.0, 1.0);\n  if (alpha <= 0.0) discard;\n  gl_FragColor = vec4(color.rgb * alpha, alpha);\n}", rr = 1.4, ir = class {
	canvas;
	gl;
	kind = "webgl";
	ratio = 1;
	count = 0;
	positions = /* @__PURE__ */ new Float32Array();
	styles = /* @__PURE__ */ new Uint8Array();
	dark = !1;
	program;
	positionBuffer;
	styleBuffer;
	places = {};
	isLost = !1;
	constructor(e, t) {
		this.canvas = e, this.gl = t, this.prepare(), e.addEventListener("webglcontextlost", (e) => {
			e.preventDefault(), this.isLost = !0;
		}), e.addEventListener("webglcontextrestored", () => {
			this.isLost = !1, this.prepare(), this.setPositions(this.positions), this.setStyles(this.styles), e.dispatchEvent(new Event("mustlink-redraw", { bubbles: !0 }));
		});
	}
	prepare() {
		let { gl: e } = this, t = e.createProgram();
		for (let [n, r] of [[e.VERTEX_SHADER, tr], [e.FRAGMENT_SHADER, nr]]) {
			let i = e.createShader(n);
			if (!i) throw Error("No shader can be made.");
			if (e.shaderSource(i, r), e.compileShader(i), !e.getShaderParameter(i, e.COMPILE_STATUS)) throw Error(e.getShaderInfoLog(i) ?? "A shader does not compile.");
			e.attachShader(t, i);
		}
		if (e.linkProgram(t), !e.getProgramParameter(t, e.LINK_STATUS)) throw Error(e.getProgramInfoLog(t) ?? "The shaders do not fit.");
		this.program = t, this.positionBuffer = e.createBuffer(), this.styleBuffer = e.createBuffer();
		for (let n of [
			"center",
			"scale",
			"size",
			"palette",
			"radius",
			"extent",
			"discs"
		]) this.places[n] = e.getUniformLocation(t, n);
		e.enable(e.BLEND), e.blendFunc(e.ONE, e.ONE_MINUS_SRC_ALPHA), e.clearColor(0, 0, 0, 0);
	}
	resize(e, t, n) {
		this.ratio = n, this.canvas.width = Math.round(e * n), this.canvas.height = Math.round(t * n);
	}
	setPositions(e) {
		let { gl: t } = this;
		this.positions = e, this.count = e.length / 2, t.bindBuffer(t.ARRAY_BUFFER, this.positionBuffer), t.bufferData(t.ARRAY_BUFFER, e, t.DYNAMIC_DRAW);
	}
	setStyles(e) {
		let { gl: t } = this;
		this.styles = e, t.bindBuffer(t.ARRAY_BUFFER, this.styleBuffer), t.bufferData(t.ARRAY_BUFFER, e, t.DYNAMIC_DRAW);
	}
	setDark(e) {
		this.dark = e;
	}
	draw(e, t) {
		let { gl: n, places: r, ratio: i } = this;
		if (this.isLost || (n.viewport(0, 0, this.canvas.width, this.canvas.height), n.clear(n.COLOR_BUFFER_BIT), this.count === 0 || this.styles.length < 4 * this.count)) return;
		n.useProgram(this.program);
		let a = t * i, o = t < 3, s = 2 * ((o ? 1 : rr) + .6 / a);
		n.uniform2f(r.center, e.x, e.y), n.uniform2f(r.scale, 2 * e.scale / e.width, 2 * e.scale / e.height), n.uniform1f(r.size, a * s), n.uniform1f(r.radius, a), n.uniform1f(r.extent, s), n.uniform1i(r.discs, +!!o), n.uniform3fv(r.palette, _e(this.dark)), this.bind("position", this.positionBuffer, 2, n.FLOAT), this.bind("style", this.styleBuffer, 4, n.UNSIGNED_BYTE), n.drawArrays(n.POINTS, 0, this.count);
	}
	bind(e, t, n, r) {
		let { gl: i } = this, a = i.getAttribLocation(this.program, e);
		i.bindBuffer(i.ARRAY_BUFFER, t), i.enableVertexAttribArray(a), i.vertexAttribPointer(a, n, r, !1, 0, 0);
	}
	destroy() {
		this.gl.getExtension("WEBGL_lose_context")?.loseContext(), this.canvas.remove();
	}
}, ar = 2, or = 5.5, sr = 7, cr = .25;
function lr(t, n, r) {
	for (let i = 0; i < t.length; i++) {
		let a = t[i], o = a === e;
		r[4 * i] = o ? 8 : I(a), r[4 * i + 1] = o ? 0 : ge(a), r[4 * i + 2] = 255 * cr + .75 * n[i];
	}
	return r;
}
function ur(e, t) {
	let n = Math.max(ar, Math.min(or, or * (1e3 / Math.max(e, 1)) ** .2));
	return Math.max(.8, Math.min(sr, n * Math.sqrt(t)));
}
function dr(e) {
	let t = e.getExtension("WEBGL_debug_renderer_info"), n = t ? String(e.getParameter(t.UNMASKED_RENDERER_WEBGL)) : "";
	return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(n);
}
function fr(e = !1) {
	let t = document.createElement("canvas"), n = t.getContext("webgl", {
		antialias: !1,
		failIfMajorPerformanceCaveat: !e,
		powerPreference: "high-performance"
	});
	if (n && (e || !dr(n))) try {
		return new ir(t, n);
	} catch (e) {
		console.warn("WebGL does not work here; the map is drawn without it.", e);
	}
	return new $n(document.createElement("canvas"));
}
// src/plot/underlay.ts
var pr = 2e4;
function mr(e, t) {
	e.clearRect(0, 0, t.camera.width, t.camera.height), hr(e, t), t.store.view === "spring" && gr(e, t);
}
function hr(e, t) {
	let { camera: n, drawn: r, theme: i, store: a } = t, o = (a.state?.eps ?? 0) * n.scale, s = (a.state?.pins ?? []).map(([e]) => [n.screenX(r.positions[2 * e]), n.screenY(r.positions[2 * e + 1])]);
	if (t.ghost && s.push([n.screenX(t.ghost.x), n.screenY(t.ghost.y)]), s.length !== 0) {
		e.beginPath();
		for (let [t, n] of s) e.moveTo(t + o, n), e.arc(t, n, o, 0, 2 * Math.PI);
		e.fillStyle = i.accent, e.strokeStyle = i.accent, e.globalAlpha = .6, e.lineWidth = 2, e.stroke(), e.globalAlpha = 1, e.globalCompositeOperation = "destination-out", e.fill(), e.globalCompositeOperation = "source-over", e.globalAlpha = i.dark ? .14 : .09, e.fill(), e.globalAlpha = 1;
	}
}
function gr(e, { camera: t, drawn: n, theme: r, store: i }) {
	let { edges: a } = i, { positions: o } = n, s = a.length / 2 <= pr, c = new Set(i.selection);
	if (i.hovered !== null && c.add(i.hovered), s || c.size !== 0) {
		e.beginPath();
		for (let n = 0; n < a.length; n += 2) {
			let r = a[n], i = a[n + 1];
			(s || c.has(r) || c.has(i)) && (e.moveTo(t.screenX(o[2 * r]), t.screenY(o[2 * r + 1])), e.lineTo(t.screenX(o[2 * i]), t.screenY(o[2 * i + 1])));
		}
		e.strokeStyle = r.quiet, e.lineWidth = 1, e.globalAlpha = Math.max(.08, Math.min(.35, 600 / (a.length + 1))), e.stroke(), e.globalAlpha = 1;
	}
}
// src/plot/map.ts
var _r = 300, vr = 3e3, yr = class {
	element;
	store;
	root;
	camera = new G();
	drawn = new Tn();
	theme;
	radius = 3;
	cursor = null;
	ghost = null;
	line = null;
	lasso = null;
	labels = [];
	changed = [];
	drawnAt = 0;
	points;
	under;
	over;
	springs;
	stops = [];
	resizes;
	samples = null;
	styles = /* @__PURE__ */ new Uint8Array();
	frame = 0;
	unmark;
	arePointsStale = !1;
	areStylesStale = !1;
	flight = null;
	hasFitted = !1;
	hasShownPins = !1;
	constructor(e, t, n) {
		this.element = e, this.store = t, this.root = n, this.points = fr(n.dataset.points === "webgl");
		let [r, i] = [br("ml-plot-under"), br("ml-plot-over")];
		[this.under, this.over] = [r, i], this.points.canvas.className = "ml-plot-points", e.append(r.canvas, this.points.canvas, i.canvas);
		for (let e of [
			r.canvas,
			this.points.canvas,
			i.canvas
		]) e.setAttribute("aria-hidden", "true");
		this.theme = un(n), this.points.setDark(this.theme.dark), this.springs = new Cn(t, pn, (e) => {
			this.drawn.setBase(e, !1, performance.now()), this.movePoints();
		}), this.resizes = new ResizeObserver(() => this.resize()), this.resizes.observe(e), this.listen(), this.resize(), this.takeAll();
	}
	get surface() {
		return this.over.canvas;
	}
	get layer() {
		return this.points.kind;
	}
	listen() {
		let { store: e } = this;
		this.stops.push(e.subscribe("hello", () => {
			this.springs.reset(), this.cursor = null, this.takeAll();
		}), e.subscribe(["view", "positions"], () => this.takeView()), e.subscribe("edges", () => this.springs.update()), e.subscribe("state", () => this.takeState()), e.subscribe(["labels", "confidence"], () => this.takeStyles()), e.subscribe("labels", () => this.markChanged()), e.subscribe("selection", () => this.reveal(e.selection)), e.subscribe([
			"hover",
			"refused",
			"question"
		], () => this.redraw()), fn(this.root, () => {
			this.theme = un(this.root), this.points.setDark(this.theme.dark), this.redrawPoints();
		})), this.points.canvas.addEventListener("mustlink-redraw", () => this.redrawPoints());
	}
	takeAll() {
		this.takeView(), this.takeState(), this.takeStyles();
	}
	takeView() {
		let e = this.store.shownPositions;
		if (e) {
			this.hasFitted && this.drawn.n === e.length / 2 || (this.camera.fit(), this.hasShownPins = !1), this.hasFitted = !0;
			let t = this.store.view === "spring" ? this.springs.placesFor(e) : e;
			this.drawn.setBase(t, this.isAnimated, performance.now());
		}
		this.springs.update(), this.movePoints();
	}
	takeState() {
		let e = this.store.state;
		e && e.pins.every(([e]) => e < this.store.nRows) && (this.drawn.setPins(e.pins, this.isAnimated, performance.now()), this.showPins()), this.springs.update(), this.movePoints();
	}
	showPins() {
		!this.hasShownPins && this.hasFitted && (this.hasShownPins = !0, this.camera.fit(this.drawn.target));
	}
	takeStyles() {
		this.samples = null, this.areStylesStale = !0, this.springs.update(), this.redrawPoints();
	}
	markChanged() {
		this.store.changed.length !== 0 && (this.changed = this.store.changed, clearTimeout(this.unmark), this.unmark = setTimeout(() => {
			this.changed = [], this.redraw();
		}, vr));
	}
	hold(e, t = []) {
		for (let e of t) this.drawn.held.delete(e);
		for (let [t, n] of e ?? []) this.drawn.held.set(t, n);
		this.drawn.aim(e === null && this.isAnimated, performance.now()), this.movePoints();
	}
	get isAnimated() {
		return !pn();
	}
	movePoints() {
		this.drawn.isMoving || this.points.setPositions(this.drawn.positions), this.labels = [], this.redrawPoints();
	}
	resize() {
		let { clientWidth: e, clientHeight: t } = this.element, n = window.devicePixelRatio || 1;
		this.camera.resize(e, t), this.points.resize(e, t, n);
		for (let r of [this.under, this.over]) r.canvas.width = Math.round(e * n), r.canvas.height = Math.round(t * n), r.setTransform(n, 0, 0, n, 0, 0);
		this.redrawPoints(), this.drawNow(performance.now());
	}
	moveCamera(e, t = !1) {
		if (t && this.isAnimated) {
			let t = Object.assign(new G(), this.camera);
			e(t), this.flight = {
				from: Object.assign(new G(), this.camera),
				to: t,
				startedAt: performance.now()
			};
		} else this.flight = null, e(this.camera);
		this.redrawPoints();
	}
	fit() {
		this.moveCamera((e) => e.fit(this.drawn.target), !0);
	}
	focus(e) {
		let t = e.filter((e) => e < this.drawn.n);
		if (t.length === 0) return;
		let { positions: n } = this.drawn, [r, i, a, o] = [
			Infinity,
			Infinity,
			-Infinity,
			-Infinity
		];
		for (let e of t) r = Math.min(r, n[2 * e]), a = Math.max(a, n[2 * e]), i = Math.min(i, n[2 * e + 1]), o = Math.max(o, n[2 * e + 1]);
		this.moveCamera((e) => e.show(r, i, a, o), !0);
	}
	reveal(e) {
		let t = e.some((e) => e < this.drawn.n && !this.isInside(e));
		e.length <= 2 && t && this.focus(e), this.redraw();
	}
	isInside(e) {
		let { x: t, y: n } = this.screen(e);
		return t >= 0 && n >= 0 && t <= this.camera.width && n <= this.camera.height;
	}
	fly(e) {
		if (!this.flight) return !1;
		let { from: t, to: n, startedAt: r } = this.flight, i = K((e - r) / _r, 0, 1), a = 1 - (1 - i) ** 3;
		return this.camera.x = t.x + a * (n.x - t.x), this.camera.y = t.y + a * (n.y - t.y), this.camera.scale = t.scale * (n.scale / t.scale) ** a, i >= 1 && (this.flight = null), !0;
	}
	screen(e) {
		let { positions: t } = this.drawn;
		return {
			x: this.camera.screenX(t[2 * e]),
			y: this.camera.screenY(t[2 * e + 1])
		};
	}
	rowAt(e, t, n) {
		if (this.drawn.n === 0) return null;
		let r = this.camera.toWorld(e, t);
		return this.drawn.grid.nearest(r.x, r.y, n / this.camera.scale);
	}
	isDense(e) {
		let t = this.camera.toWorld(0, this.camera.height), n = this.camera.toWorld(this.camera.width, 0), r = 0;
		return this.drawn.grid.eachInBox(t.x, t.y, n.x, n.y, () => ++r <= e), r > e;
	}
	redraw() {
		this.frame ||= requestAnimationFrame((e) => this.drawNow(e));
	}
	redrawPoints() {
		this.arePointsStale = !0, this.redraw();
	}
	drawNow(e) {
		cancelAnimationFrame(this.frame), this.frame = 0, this.drawn.step(e) && (this.points.setPositions(this.drawn.positions), this.labels = [], this.arePointsStale = !0), this.fly(e) && (this.arePointsStale = !0), this.radius = ur(this.drawn.n, this.camera.zoom);
		let t = this.areStylesStale;
		t && this.uploadStyles(), this.arePointsStale && this.points.draw(this.camera, this.radius), this.arePointsStale = !1, this.labels.length === 0 && this.placeLabels(), mr(this.under, this), Pn(this.over, this), t && this.markDrawn(), (this.drawn.isMoving || this.flight) && this.redraw();
	}
	uploadStyles() {
		let { labels: e, confidence: t } = this.store;
		this.areStylesStale = !1, this.styles.length !== 4 * e.length && (this.styles = new Uint8Array(4 * e.length)), this.points.setStyles(lr(e, t, this.styles));
	}
	placeLabels() {
		this.store.labels.length === this.drawn.n && (this.samples ??= On(this.store.labels), this.labels = [...this.samples].map(([e, t]) => ({
			group: e,
			...kn(t, this.drawn.positions)
		})));
	}
	markDrawn() {
		requestAnimationFrame(() => {
			this.drawnAt = performance.now(), performance.mark("mustlink-recolored");
		});
	}
	destroy() {
		cancelAnimationFrame(this.frame), clearTimeout(this.unmark), this.springs.stop(), this.resizes.disconnect();
		for (let e of this.stops) e();
		this.points.destroy(), this.element.replaceChildren();
	}
};
function br(e) {
	let t = document.createElement("canvas");
	t.className = e;
	let n = t.getContext("2d");
	if (!n) throw Error("This browser has no canvas.");
	return n;
}
// src/plot/pointer.ts
var xr = 4, Sr = 5, Cr = 16, wr = class {
	map;
	card;
	fingers = /* @__PURE__ */ new Map();
	press = null;
	linkFrom = null;
	ends = new AbortController();
	constructor(e, t) {
		this.map = e, this.card = t;
		let { surface: n } = e, { signal: r } = this.ends;
		n.addEventListener("pointerdown", (e) => this.down(e), { signal: r }), n.addEventListener("pointermove", (e) => this.move(e), { signal: r }), n.addEventListener("pointerup", (e) => this.up(e), { signal: r }), n.addEventListener("pointercancel", (e) => this.lose(e), { signal: r }), n.addEventListener("pointerleave", () => this.leave(), { signal: r }), n.addEventListener("wheel", (e) => this.wheel(e), {
			signal: r,
			passive: !1
		}), n.addEventListener("dblclick", (e) => this.doubleClick(e), { signal: r }), n.addEventListener("contextmenu", (e) => this.press && e.preventDefault(), { signal: r });
		let i = e.store.subscribe("mode", () => this.cancel());
		r.addEventListener("abort", i);
	}
	at(e) {
		let t = this.map.surface.getBoundingClientRect();
		return {
			x: e.clientX - t.left,
			y: e.clientY - t.top
		};
	}
	rowAt(e, t, n) {
		return this.map.rowAt(e, t, this.map.radius + (n ? Cr : Sr));
	}
	down(e) {
		if (e.pointerType === "mouse" && e.button !== 0) return;
		let { x: t, y: n } = this.at(e);
		this.map.element.focus({ preventScroll: !0 }), this.map.element.classList.remove("ml-by-key"), this.map.surface.setPointerCapture(e.pointerId), this.fingers.set(e.pointerId, {
			x: t,
			y: n
		}), this.card.hide(), this.fingers.size > 1 ? (this.stopGesture(), this.press = this.newPress(e, t, n, "pinch")) : this.press = this.newPress(e, t, n, "undecided");
	}
	newPress(e, t, n, r) {
		let i = e.pointerType === "touch";
		return {
			gesture: r,
			startX: t,
			startY: n,
			x: t,
			y: n,
			row: r === "pinch" ? null : this.rowAt(t, n, i),
			isTouch: i,
			isAdding: e.shiftKey || e.ctrlKey || e.metaKey
		};
	}
	move(e) {
		let { x: t, y: n } = this.at(e), { press: r } = this;
		if (!r) this.hover(e, t, n);
		else if (r.gesture === "pinch") this.pinch(e, t, n);
		else {
			if (r.gesture === "undecided") {
				if (Math.hypot(t - r.startX, n - r.startY) <= xr) return;
				r.gesture = this.decide(r), r.gesture === "lasso" && this.startLasso(r);
			}
			this.go(r, t, n), r.x = t, r.y = n;
		}
	}
	startLasso({ startX: e, startY: t }) {
		let { x: n, y: r } = this.map.camera.toWorld(e, t);
		this.map.lasso = [n, r];
	}
	decide(e) {
		let { store: t } = this.map, n = e.row !== null && t.selection.includes(e.row);
		return t.mode === "same" || t.mode === "different" ? e.row === null ? "pan" : "link" : n && !e.isAdding ? "drag" : t.mode === "lasso" || e.isAdding ? "lasso" : e.row !== null && !e.isTouch && !this.map.isDense(3e3) ? "drag" : "pan";
	}
	go(e, t, n) {
		let { map: r } = this, i = r.camera.toWorld(t, n);
		switch (e.gesture) {
			case "pan":
				r.surface.classList.add("ml-panning"), r.moveCamera((r) => r.panBy(t - e.x, n - e.y));
				break;
			case "lasso":
				r.lasso?.push(i.x, i.y), r.redraw();
				break;
			case "drag": {
				let { selection: t } = r.store;
				Le(r, t.includes(e.row) ? t : [e.row], i.x, i.y);
				break;
			}
			case "link": this.drawLine(e.row, t, n, e.isTouch);
		}
	}
	drawLine(e, t, n, r) {
		let { map: i } = this, a = this.rowAt(t, n, r);
		i.line = {
			from: e,
			...i.camera.toWorld(t, n),
			to: a === e ? null : a,
			together: i.store.mode === "same"
		}, i.redraw();
	}
	up(e) {
		this.fingers.delete(e.pointerId);
		let { press: t, map: n } = this;
		if (!t) return;
		if (t.gesture === "pinch") {
			this.fingers.size === 0 && (this.press = null);
			return;
		}
		this.press = null;
		let { line: r, lasso: i } = n;
		t.gesture === "undecided" ? this.click(t) : t.gesture === "drag" ? Re(n) : t.gesture === "lasso" && i ? this.endLasso(i, t.isAdding) : t.gesture === "link" && r?.to != null && Be(n, r.from, r.to, r.together), this.stopGesture();
	}
	endLasso(e, t) {
		let { store: n, drawn: r } = this.map, i = Me(r.grid, r.positions, e);
		n.select(t ? [.../* @__PURE__ */ new Set([...n.selection, ...i])] : i);
	}
	click({ row: e, isAdding: t }) {
		let { store: n } = this.map;
		n.mode === "same" || n.mode === "different" ? this.chooseLinked(e) : e === null ? n.select(t ? n.selection : []) : t ? n.selection.includes(e) ? n.select(n.selection.filter((t) => t !== e)) : n.select([...n.selection, e]) : n.select([e]);
	}
	chooseLinked(e) {
		let { store: t } = this.map, n = this.linkFrom;
		return e === null || n === null || e === n ? (this.linkFrom = e === n ? null : e, t.select(this.linkFrom === null ? [] : [this.linkFrom]), this.linkFrom === null ? "none" : "first") : (this.linkFrom = null, t.select([]), Be(this.map, n, e, t.mode === "same"), "linked");
	}
	pinch(e, t, n) {
		let r = [...this.fingers].find(([t]) => t !== e.pointerId)?.[1], i = this.fingers.get(e.pointerId);
		if (this.fingers.set(e.pointerId, {
			x: t,
			y: n
		}), !r || !i) return;
		let [a, o] = [Math.hypot(t - r.x, n - r.y), Math.hypot(i.x - r.x, i.y - r.y)];
		this.map.moveCamera((e) => {
			e.panBy((t - i.x) / 2, (n - i.y) / 2), e.zoomAt((t + r.x) / 2, (n + r.y) / 2, a / Math.max(o, 1));
		});
	}
	hover(e, t, n) {
		if (e.pointerType === "touch" || this.map.drawn.isMoving) return;
		let r = this.rowAt(t, n, !1), { store: i, surface: a } = this.map;
		a.classList.toggle("ml-on-row", r !== null), i.hover(r), r === null ? this.card.hide() : this.card.showSoon(r, t, n), this.linkFrom !== null && this.drawLine(this.linkFrom, t, n, !1);
	}
	leave() {
		this.press || (this.map.store.hover(null), this.card.hide());
	}
	wheel(e) {
		if (this.map.element.closest(".ml-in-notebook") && !e.ctrlKey && !this.map.element.contains(document.activeElement)) return;
		e.preventDefault(), this.card.hide();
		let { x: t, y: n } = this.at(e), r = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
		this.map.moveCamera((i) => i.zoomAt(t, n, Math.exp(-e.deltaY * r * (e.ctrlKey ? .01 : .0016))));
	}
	doubleClick(e) {
		let { x: t, y: n } = this.at(e);
		this.rowAt(t, n, !1) === null && this.map.fit();
	}
	lose(e) {
		this.fingers.delete(e.pointerId), this.press = null, this.stopGesture();
	}
	stopGesture() {
		let { map: e } = this;
		e.surface.classList.remove("ml-panning"), e.lasso = null, e.line = null, e.ghost = null, e.redraw();
	}
	cancel() {
		let e = this.linkFrom !== null || this.press !== null && this.press.gesture !== "pan";
		return this.linkFrom = null, this.press && (this.press.gesture = "done"), this.stopGesture(), e;
	}
	destroy() {
		this.ends.abort();
	}
}, Tr = 24, Er = 0;
function Dr(e, t, n) {
	let r = new yr(e, t, n), i = new vn(e, t, n), a = new wr(r, i), o = new Ke(r, i, a, Or(e));
	kr(e, r);
	let s = [Ar(e, t), jr(e, t)];
	return {
		screenPosition(e) {
			if (!(e >= 0 && e < r.drawn.n)) return null;
			let t = r.surface.getBoundingClientRect(), { x: n, y: i } = r.screen(e);
			return {
				x: t.left + n,
				y: t.top + i
			};
		},
		get places() {
			return r.drawn.target;
		},
		nearest(e, t) {
			let n = r.surface.getBoundingClientRect();
			return r.rowAt(e - n.left, t - n.top, Tr);
		},
		get drawnAt() {
			return r.drawnAt;
		},
		get layer() {
			return r.layer;
		},
		get isMoving() {
			return r.drawn.isMoving;
		},
		fit: () => r.fit(),
		focus: (e) => r.focus(e),
		destroy() {
			for (let e of s) e();
			o.destroy(), a.destroy(), i.destroy(), r.destroy();
		}
	};
}
function Or(e) {
	let t = document.createElement("p");
	t.id = `ml-plot-help-${++Er}`, t.className = "ml-unseen", t.textContent = He;
	let n = document.createElement("p");
	return n.className = "ml-unseen", n.setAttribute("aria-live", "polite"), e.append(t, n), e.tabIndex = 0, e.setAttribute("role", "application"), e.setAttribute("aria-label", "Map of the rows"), e.setAttribute("aria-describedby", t.id), (e) => {
		n.textContent = e;
	};
}
function kr(e, t) {
	let n = document.createElement("div");
	n.className = "ml-zoom";
	let r = (e, t, r) => {
		let i = document.createElement("button");
		i.type = "button", i.textContent = e, i.setAttribute("aria-label", t), i.title = t, i.addEventListener("click", r), n.append(i);
	}, i = (e) => () => t.moveCamera((t) => t.zoomAt(t.width / 2, t.height / 2, e), !0);
	r("+", "Zoom in", i(1.6)), r("−", "Zoom out", i(1 / 1.6)), r("⤢", "Show all rows", () => t.fit()), e.append(n);
}
function Ar(e, t) {
	let n = () => {
		e.dataset.mode = t.mode;
	};
	return n(), t.subscribe("mode", n);
}
function jr(e, t) {
	let n = document.createElement("p");
	n.className = "ml-waiting", e.append(n);
	let r = () => {
		let e = t.hello?.views.find((e) => e.name === t.awaitedView)?.title;
		t.view === null ? n.textContent = t.status === "open" ? "Waiting for the rows." : "" : n.textContent = e ? `Computing: ${e}` : "", n.hidden = n.textContent === "";
	};
	return r(), t.subscribe([
		"view",
		"hello",
		"connection",
		"positions"
	], r);
}
// src/store.ts
var Mr = class {
	connection;
	hello = null;
	state = null;
	question = null;
	panels = null;
	positions = /* @__PURE__ */ new Map();
	labels = /* @__PURE__ */ new Uint16Array();
	changed = [];
	confidence = /* @__PURE__ */ new Uint8Array();
	edges = /* @__PURE__ */ new Uint32Array();
	view = null;
	selection = [];
	hovered = null;
	mode = "pan";
	refused = null;
	notice = "";
	busy = 0;
	status = "connecting";
	actedAt = 0;
	listeners = /* @__PURE__ */ new Map();
	rows = /* @__PURE__ */ new Map();
	wanted = null;
	stop;
	constructor(e) {
		this.connection = e, this.stop = e.on({
			message: (e) => this.receive(e),
			buffer: (e) => this.receiveBuffer(e),
			status: (e, t) => this.receiveStatus(e, t)
		});
	}
	subscribe(e, t) {
		let n = typeof e == "string" ? [e] : e;
		for (let e of n) {
			let n = this.listeners.get(e);
			n || this.listeners.set(e, n = /* @__PURE__ */ new Set()), n.add(t);
		}
		return () => {
			for (let e of n) this.listeners.get(e)?.delete(t);
		};
	}
	tell(...e) {
		let t = /* @__PURE__ */ new Set();
		for (let n of e) for (let e of [...this.listeners.get(n) ?? []]) t.has(e) || (t.add(e), e());
	}
	async act(e) {
		this.actedAt = performance.now(), this.setRefused(null), this.setBusy(1);
		try {
			let t = await this.connection.request(e);
			return t.type === "refused" ? this.setRefused(t) : this.notice && this.setNotice(""), t;
		} catch (e) {
			throw this.setNotice(Pr(e)), e;
		} finally {
			this.setBusy(-1);
		}
	}
	async ask(e) {
		try {
			return await this.connection.request(e);
		} catch (e) {
			throw this.setNotice(Pr(e)), e;
		}
	}
	row(e) {
		let t = this.rows.get(e);
		return t || (t = this.connection.request({
			do: "row",
			row: e
		}), this.rows.set(e, t), t.catch(() => this.rows.delete(e))), t;
	}
	show(e) {
		let t = this.place(e);
		t < 0 || (this.positions.has(t) && (this.wanted = null, this.view = e, this.tell("view")), this.positions.has(t) && e !== "learned" || (this.positions.has(t) || (this.wanted = e), this.tell("view"), this.ask({
			do: "view",
			name: e
		}).catch(() => {
			this.wanted = null, this.tell("view");
		})));
	}
	get awaitedView() {
		return this.wanted;
	}
	select(e) {
		e.length === this.selection.length && e.every((e, t) => e === this.selection[t]) || (this.selection = e, this.tell("selection"));
	}
	hover(e) {
		e !== this.hovered && (this.hovered = e, this.tell("hover"));
	}
	setMode(e) {
		e !== this.mode && (this.mode = e, this.tell("mode"));
	}
	setRefused(e) {
		e !== this.refused && (this.refused = e, this.tell("refused"));
	}
	setNotice(e) {
		e !== this.notice && (this.notice = e, this.tell("notice"));
	}
	setBusy(e) {
		this.busy += e, this.tell("busy");
	}
	get nRows() {
		return this.hello?.n_rows ?? 0;
	}
	place(e) {
		return this.hello?.views.findIndex((t) => t.name === e) ?? -1;
	}
	get shownPositions() {
		return this.positions.get(this.place(this.view)) ?? null;
	}
	groupOf(e) {
		let t = this.labels[e];
		return t === void 0 || t === 65535 ? null : t;
	}
	receive(e) {
		switch (e.type) {
			case "hello":
				this.startOver(e), this.tell("hello", "view");
				break;
			case "state":
				this.state = e, this.rows.clear(), this.tell("state");
				break;
			case "question":
				this.question = e, this.tell("question");
				break;
			case "panels":
				this.panels = e, this.tell("panels");
				break;
			case "error": e.id === null && this.setNotice(e.message);
		}
	}
	startOver(t) {
		this.hello = t, this.positions.clear(), this.rows.clear(), this.labels = new Uint16Array(t.n_rows).fill(e), this.confidence = new Uint8Array(t.n_rows).fill(255), this.edges = /* @__PURE__ */ new Uint32Array(), this.selection = this.selection.filter((e) => e < t.n_rows), this.hovered = null, this.wanted = this.view, this.view = null;
	}
	receiveBuffer(e) {
		let t = this.nRows;
		switch (e.kind) {
			case "positions": {
				if (e.values.length !== 2 * t) return;
				let n = this.hello?.views[e.view]?.name;
				if (!n) return;
				if (this.positions.set(e.view, e.values), this.view === null || this.wanted === n) {
					let e = this.wanted !== null && this.wanted !== n ? this.wanted : null;
					this.view = n, this.wanted = null, this.tell("view"), e && this.show(e);
				} else n === this.view && this.tell("positions");
				break;
			}
			case "labels":
				if (e.values.length !== t) return;
				this.changed = Nr(this.labels, e.values), this.labels = e.values, this.tell("labels");
				break;
			case "confidence":
				if (e.values.length !== t) return;
				this.confidence = e.values, this.tell("confidence");
				break;
			case "edges": this.edges = e.values, this.tell("edges");
		}
	}
	receiveStatus(e, t) {
		this.status = e, this.setNotice(t), this.tell("connection");
	}
	destroy() {
		this.stop(), this.listeners.clear();
	}
};
function Nr(e, t) {
	let n = [];
	for (let r = 0; r < t.length; r++) e[r] !== t[r] && e[r] !== 65535 && n.push(r);
	return n;
}
function Pr(e) {
	return e instanceof Error ? e.message : String(e);
}
// src/main.ts
function $(e, t, n = {}) {
	let r = document.createElement(e);
	r.className = `ml-${t}`;
	for (let [e, t] of Object.entries(n)) r.setAttribute(e, t);
	return r;
}
function Fr(e) {
	e.classList.add("ml-studio");
	let t = {
		root: e,
		toolbar: $("header", "toolbar"),
		plot: $("div", "plot"),
		question: $("section", "question", {
			role: "region",
			"aria-label": "Question"
		}),
		side: $("aside", "side", { "aria-label": "Panels" }),
		status: $("div", "status", {
			role: "status",
			"aria-label": "Status"
		}),
		map: $("div", "map"),
		banner: $("div", "banners")
	};
	t.map.append(t.plot);
	let n = $("main", "main");
	n.append(t.question, t.map);
	let r = $("div", "frame");
	return r.append(t.toolbar, t.banner, n, t.side, t.status), e.replaceChildren(r), t;
}
function Ir(e, t) {
	let n = new Mr(t), r = Fr(e), i = Dr(r.plot, n, e), a = ln(r, n, i), o = {
		store: n,
		plot: i,
		destroy() {
			a(), i.destroy(), n.destroy(), e.replaceChildren(), window.mustlinkStudio?.store === n && delete window.mustlinkStudio;
		}
	};
	return window.mustlinkStudio = {
		store: n,
		plot: i
	}, o;
}
// src/styles/index.css?inline
var Lr = ".ml-studio{--lightningcss-light:initial;--lightningcss-dark: ;color-scheme:light;--ml-page:#eef1f5;--ml-back:#fff;--ml-raised:#f6f8fa;--ml-text:#1b2230;--ml-quiet:#525d6d;--ml-line:#d6dce4;--ml-edge:#7f8b9b;--ml-accent:#0a5aa8;--ml-accent-hover:#084885;--ml-on-accent:#fff;--ml-accent-soft:#e3effb;--ml-same:#0a5aa8;--ml-different:#b3261e;--ml-danger:#b3261e;--ml-danger-soft:#fdecea;--ml-good:#17693a;--ml-mark:#fff2cc;--ml-mark-ink:#6b4a00;--ml-mark-edge:#a87400;--ml-shadow:0 1px 2px #141e2d1f, 0 4px 16px #141e2d1a;--ml-veil:#141c2873;--ml-radius:8px;--ml-radius-small:6px;--ml-gap:12px;--ml-font:system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, sans-serif;--ml-mono:ui-monospace, \"SFMono-Regular\", Menlo, Consolas, monospace;--ml-pace:.14s}.ml-studio[data-theme=dark]{--lightningcss-light: ;--lightningcss-dark:initial;color-scheme:dark;--ml-page:#10141a;--ml-back:#181e27;--ml-raised:#212935;--ml-text:#e8ecf2;--ml-quiet:#a9b4c3;--ml-line:#323c4a;--ml-edge:#76849a;--ml-accent:#7db9ff;--ml-accent-hover:#a5cfff;--ml-on-accent:#0b1522;--ml-accent-soft:#1d3450;--ml-same:#7db9ff;--ml-different:#ff9a91;--ml-danger:#ff9a91;--ml-danger-soft:#421f1d;--ml-good:#79d6a0;--ml-mark:#3d3212;--ml-mark-ink:#ffdf8c;--ml-mark-edge:#d9a93a;--ml-shadow:0 1px 2px #00000080, 0 4px 18px #0006;--ml-veil:#0009}@media (prefers-reduced-motion:reduce){.ml-studio{--ml-pace:0s}}.ml-studio :where(button,input,select){font:inherit;color:inherit}.ml-studio :where(h1,h2,h3,p,ul,ol,dl,dd,figure){margin:0;padding:0}.ml-studio :where(ul,ol){list-style:none}.ml-studio [hidden]{display:none!important}.ml-studio :focus-visible{outline:3px solid var(--ml-accent);outline-offset:2px}.ml-button{border:1px solid var(--ml-edge);border-radius:var(--ml-radius-small);background:var(--ml-back);cursor:pointer;min-height:32px;transition:background var(--ml-pace);justify-content:center;align-items:center;gap:6px;padding:4px 12px;display:inline-flex}.ml-button:hover:not(:disabled){background:var(--ml-accent-soft)}.ml-button:disabled{opacity:.5;cursor:default}.ml-button[aria-pressed=true],.ml-button.primary{border-color:var(--ml-accent);background:var(--ml-accent);color:var(--ml-on-accent)}.ml-button[aria-pressed=true]:hover:not(:disabled),.ml-button.primary:hover:not(:disabled){background:var(--ml-accent-hover)}.ml-button.small{min-height:26px;padding:1px 8px;font-size:13px}.ml-button.plain{background:0 0;border-color:#0000}.ml-button.plain:hover:not(:disabled){background:var(--ml-accent-soft)}.ml-button svg{flex:none;width:18px;height:18px}.ml-button.small svg{width:15px;height:15px}.ml-studio kbd{min-width:1.5em;font:.85em/1.5 var(--ml-mono);text-align:center;opacity:.85;border:1px solid;border-radius:4px;padding:0 4px;display:inline-block}@media (hover:none) and (pointer:coarse){.ml-key{clip-path:inset(50%);width:1px;height:1px;position:absolute;overflow:hidden}}.ml-field{white-space:nowrap;color:var(--ml-quiet);align-items:center;gap:6px;font-size:13px;display:inline-flex}.ml-input{box-sizing:border-box;border:1px solid var(--ml-edge);border-radius:var(--ml-radius-small);background:var(--ml-back);min-width:0;min-height:32px;color:var(--ml-text);padding:3px 8px;font-size:14px}.ml-input::placeholder{color:var(--ml-quiet);opacity:1}.ml-studio input[type=range]{width:96px;accent-color:var(--ml-accent)}.ml-soft{color:var(--ml-quiet)}.ml-fine{color:var(--ml-quiet);font-size:13px}.ml-tag{border:1px solid var(--ml-line);background:var(--ml-raised);color:var(--ml-quiet);white-space:nowrap;border-radius:999px;align-items:center;gap:4px;padding:0 7px;font-size:12px;line-height:19px;display:inline-flex}.ml-tag.warning{border-color:var(--ml-mark-edge);background:var(--ml-mark);color:var(--ml-mark-ink)}.ml-tag.danger{border-color:var(--ml-danger);background:var(--ml-danger-soft);color:var(--ml-danger)}.ml-bar{background:var(--ml-line);border-radius:4px;height:8px;overflow:hidden}.ml-bar>span{background:var(--ml-accent);height:100%;transition:width var(--ml-pace);border-radius:4px;display:block}.ml-spinner{box-sizing:border-box;border:2px solid var(--ml-line);border-top-color:var(--ml-accent);border-radius:50%;width:14px;height:14px;animation:.9s linear infinite ml-turn;display:inline-block}@keyframes ml-turn{to{transform:rotate(1turn)}}@media (prefers-reduced-motion:reduce){.ml-spinner{border-top-color:var(--ml-line);border-left-color:var(--ml-accent);border-right-color:var(--ml-accent);animation:none}}:is(html:has(#studio),body:has(#studio)){height:100%;margin:0}#studio{height:100dvh}.ml-studio{background:var(--ml-page);color:var(--ml-text);font:14px/1.45 var(--ml-font);position:relative;overflow:hidden;container:studio/inline-size}.ml-studio *,.ml-studio :before,.ml-studio :after{box-sizing:border-box}.ml-in-notebook{border:1px solid var(--ml-line);border-radius:var(--ml-radius);height:720px}.ml-frame{grid-template:\"toolbar toolbar\"max-content\"banner banner\"max-content\"map question\"fit-content(62%)\"map side\"minmax(160px,1fr)\"status status\"max-content/minmax(0,1fr) clamp(350px,30cqi,520px);height:100%;display:grid}.ml-toolbar{border-bottom:1px solid var(--ml-line);background:var(--ml-back);flex-wrap:wrap;grid-area:toolbar;align-items:center;gap:8px 14px;padding:7px 12px;display:flex}.ml-banners{grid-area:banner}.ml-main{display:contents}.ml-map{background:var(--ml-back);grid-area:map;min-width:0;min-height:0;position:relative;overflow:hidden}.ml-plot{position:absolute;inset:0;overflow:hidden}.ml-question{border-left:1px solid var(--ml-line);border-bottom:1px solid var(--ml-line);background:var(--ml-back);flex-direction:column;grid-area:question;min-height:0;display:flex}.ml-side{border-left:1px solid var(--ml-line);background:var(--ml-back);grid-area:side;min-height:0;display:flex}.ml-status{border-top:1px solid var(--ml-line);background:var(--ml-raised);flex-wrap:wrap;grid-area:status;align-items:center;gap:2px 8px;min-height:32px;padding:4px 12px;display:flex}@container studio (width<=760px){.ml-frame{grid-template:\"toolbar\"max-content\"banner\"max-content\"question\"max-content\"map\"max-content\"side\"max-content\"status\"max-content/minmax(0,1fr);align-content:start;scroll-padding-bottom:48px;overflow-y:auto}.ml-question,.ml-side{border-left:0;min-height:auto}.ml-map{flex-direction:column;display:flex}.ml-plot{border-top:1px solid var(--ml-line);height:clamp(320px,90cqi,480px);position:relative;inset:auto}.ml-map,.ml-side{border-bottom:1px solid var(--ml-line)}.ml-status{z-index:3;position:sticky;bottom:0}}.ml-plot canvas{width:100%;height:100%;position:absolute;inset:0}.ml-plot-under,.ml-plot-points{pointer-events:none}.ml-plot-over{touch-action:none;cursor:grab}.ml-plot:focus{outline:none}.ml-plot.ml-by-key:focus:after{content:\"\";border:2px solid var(--ml-accent);border-radius:var(--ml-radius);pointer-events:none;position:absolute;inset:2px}.ml-plot-over.ml-on-row{cursor:pointer}.ml-plot[data-mode=lasso] .ml-plot-over:not(.ml-on-row),.ml-plot[data-mode=same] .ml-plot-over,.ml-plot[data-mode=different] .ml-plot-over{cursor:crosshair}.ml-plot .ml-plot-over.ml-panning{cursor:grabbing}.ml-card{z-index:3;border:1px solid var(--ml-line);border-radius:var(--ml-radius);background:var(--ml-back);pointer-events:none;overflow-wrap:anywhere;max-width:min(320px,100% - 8px);padding:8px 10px;font-size:12.5px;position:absolute;box-shadow:0 4px 16px #0000002e}.ml-card-head{flex-wrap:wrap;align-items:center;gap:2px 10px;display:flex}.ml-card-group{align-items:center;gap:4px;display:inline-flex}.ml-card-group svg{width:14px;height:14px}.ml-card-pinned,.ml-card-more{color:var(--ml-quiet)}.ml-card dl{grid-template-columns:minmax(0,max-content) minmax(0,1fr);gap:1px 10px;margin:6px 0 0;display:grid}.ml-card dt{max-width:120px;color:var(--ml-quiet);text-overflow:ellipsis;white-space:nowrap;overflow:hidden}.ml-card dd{margin:0}.ml-zoom{z-index:2;border:1px solid var(--ml-line);border-radius:var(--ml-radius);flex-direction:column;display:flex;position:absolute;bottom:10px;right:10px;overflow:hidden}.ml-zoom button{border:0;border-bottom:1px solid var(--ml-line);background:var(--ml-raised);width:32px;height:32px;color:var(--ml-text);font:16px/1 var(--ml-font);cursor:pointer}.ml-zoom button:last-child{border-bottom:0}.ml-zoom button:hover{background:var(--ml-line)}.ml-zoom button:focus-visible{outline:2px solid var(--ml-accent);outline-offset:-2px}.ml-waiting{z-index:2;border-radius:var(--ml-radius);background:var(--ml-raised);color:var(--ml-quiet);pointer-events:none;margin:0;padding:3px 8px;position:absolute;bottom:10px;left:12px}.ml-unseen{clip-path:inset(50%);white-space:nowrap;width:1px;height:1px;margin:0;position:absolute;overflow:hidden}.ml-title{text-overflow:ellipsis;white-space:nowrap;max-width:22ch;margin:0;font-size:15px;font-weight:650;overflow:hidden}.ml-fields{flex-wrap:wrap;flex:1;align-items:center;gap:6px 12px;display:flex}.ml-fields select{max-width:25ch}.ml-fields .ml-method{max-width:19ch}.ml-count{width:64px}.ml-radius{font-variant-numeric:tabular-nums;min-width:2.4em}.ml-settings{display:none}.ml-undo,.ml-toolbar-end{gap:6px;display:flex}.ml-button.icon{width:34px;padding:4px}@container studio (width<=1420px){.ml-fields .ml-method{max-width:15ch}.ml-fields input[type=range]{width:64px}.ml-count{width:60px}.ml-title{max-width:14ch}.ml-undo svg{display:none}}@container studio (width<=1260px){.ml-title{flex:1;max-width:none}.ml-settings{display:inline-flex}.ml-fields{flex:1 0 100%;order:1;display:none}.ml-fields.open{display:flex}}@container studio (width<=760px){.ml-toolbar{gap:6px}.ml-title{flex:1 0 calc(100% - 90px);order:-2}.ml-toolbar-end{order:-1}.ml-settings{order:1;margin-left:auto}.ml-fields{order:2}.ml-fields.open{display:grid}.ml-fields .ml-field{grid-template-columns:130px minmax(0,1fr) auto;display:grid}.ml-fields select,.ml-fields .ml-method{max-width:none}}.ml-modes{border-radius:var(--ml-radius-small);box-shadow:var(--ml-shadow);display:flex;position:absolute;top:10px;left:10px}.ml-modes .ml-button{border-radius:0;padding:4px 10px}.ml-modes .ml-button+.ml-button{border-left-width:0}.ml-modes .ml-button:first-child{border-radius:var(--ml-radius-small) 0 0 var(--ml-radius-small)}.ml-modes .ml-button:last-child{border-radius:0 var(--ml-radius-small) var(--ml-radius-small) 0}.ml-modes .ml-button:focus-visible{z-index:1}.ml-notices{gap:6px;max-width:min(420px,100% - 20px);max-height:min(140px,30%);display:grid;position:absolute;top:54px;left:10px;overflow-y:auto}.ml-notice{border:1px solid var(--ml-mark-edge);border-radius:var(--ml-radius-small);background:var(--ml-mark);color:var(--ml-mark-ink);box-shadow:var(--ml-shadow);justify-content:space-between;align-items:center;gap:8px;padding:6px 6px 6px 12px;display:flex}.ml-selection{border:1px solid var(--ml-line);border-radius:var(--ml-radius);background:var(--ml-back);width:-moz-fit-content;width:fit-content;max-width:calc(100% - 24px);box-shadow:var(--ml-shadow);flex-wrap:wrap;justify-content:center;align-items:center;gap:8px;margin:0 auto;padding:8px 12px;display:flex;position:absolute;bottom:12px;left:12px;right:12px}.ml-selection .ml-input{max-width:18ch}.ml-map .ml-waiting{top:auto;bottom:10px}@container studio (width<=760px){.ml-mode-title{display:none}.ml-modes,.ml-notices,.ml-selection{box-shadow:none;position:static}.ml-modes{order:1;padding:8px 10px}.ml-modes .ml-button{flex:1}.ml-notices{order:2;max-width:none;max-height:150px;padding:0 10px 8px}.ml-notices:empty{display:none}.ml-notice{box-shadow:none}.ml-map .ml-plot{order:3}.ml-selection{border:0;border-top:1px solid var(--ml-line);border-radius:0;order:4;justify-content:start;width:auto;max-width:none;margin:0}.ml-selection .ml-input{max-width:18ch}.ml-modes .ml-button{min-height:40px;padding:4px 12px}}.ml-question{gap:8px;padding:10px 14px}.ml-question-head{justify-content:space-between;align-items:center;gap:8px;display:flex}.ml-question-title,.ml-panel-title{font-size:15px;font-weight:650}.ml-asked{font-size:15px}.ml-question-rows{border:1px solid var(--ml-line);border-radius:var(--ml-radius-small);min-height:110px;overflow:auto}.ml-comparison,.ml-comparison thead,.ml-comparison tbody{display:block}.ml-comparison tr{border-bottom:1px solid var(--ml-line);grid-template-columns:minmax(0,35%) minmax(0,1fr) minmax(0,1fr);display:grid}.ml-comparison tbody tr:last-child{border-bottom:0}.ml-comparison tr.wide{grid-template-columns:repeat(2,minmax(0,1fr))}.ml-comparison tr.wide th{grid-column:1/-1;padding-bottom:0}.ml-comparison th,.ml-comparison td{color:var(--ml-text);text-align:left;overflow-wrap:anywhere;padding:4px 8px;font-size:14px}.ml-comparison thead{background:var(--ml-raised);position:sticky;top:0}.ml-comparison tbody th{color:var(--ml-quiet);padding-left:24px;font-size:13px;font-weight:400;line-height:20px;position:relative}.ml-comparison td.number{font-variant-numeric:tabular-nums}.ml-comparison td.text{white-space:pre-line}.ml-comparison td.empty{color:var(--ml-quiet);font-style:italic}.ml-comparison .marked{background:var(--ml-mark)}.ml-comparison .marked>th{color:var(--ml-mark-ink);font-weight:650}.ml-comparison .marked>td.number,.ml-comparison .marked>td.category{font-weight:650}.ml-differs{font-weight:700;position:absolute;left:8px}.ml-cell-image{border-radius:4px;max-width:100%;max-height:180px;display:block}.ml-question-actions{gap:8px;display:flex}.ml-question-actions .ml-button{white-space:nowrap;flex:auto;min-height:42px;padding:4px 8px;font-weight:600}.ml-button.same{border:2px solid var(--ml-same)}.ml-button.different{border:2px dashed var(--ml-different)}.ml-question-actions .ml-button[aria-disabled=true]{opacity:.55;cursor:progress}.ml-link-symbol{flex:none;width:24px;height:16px}.ml-link-symbol.same{color:var(--ml-same)}.ml-link-symbol.different{color:var(--ml-different)}.ml-button[aria-pressed=true] .ml-link-symbol{color:inherit}.ml-button .ml-link-symbol{width:24px;height:16px}.ml-question-end{padding:8px 0}.ml-advice{border-left:4px solid var(--ml-accent);background:var(--ml-accent-soft);border-radius:4px;padding:6px 10px}.ml-question-footer{flex-wrap:wrap;justify-content:space-between;align-items:center;gap:4px 12px;display:flex}.ml-question-footer select{max-width:30ch}.ml-input.small{min-height:26px;padding:0 4px;font-size:13px}@container studio (width<=1380px){.ml-question-actions .ml-button{flex-direction:column;flex:1 1 0;gap:0;min-height:48px;padding:4px}}@container studio (width<=760px){.ml-question-rows{max-height:46dvh}.ml-question-actions .ml-button{gap:2px;min-height:56px;font-size:15px}}.ml-tabs{flex-direction:column;flex:1;min-width:0;display:flex}.ml-tab-list{border-bottom:1px solid var(--ml-line);padding:0 8px;display:flex;overflow-x:auto}.ml-tab{min-height:40px;color:var(--ml-quiet);cursor:pointer;background:0 0;border:0;border-bottom:3px solid #0000;flex:1;padding:0 8px}.ml-tab:hover{color:var(--ml-text)}.ml-tab[aria-selected=true]{border-bottom-color:var(--ml-accent);color:var(--ml-text);font-weight:650}.ml-tab:focus-visible,.ml-tab-panel:focus-visible,.ml-question-rows:focus-visible{outline-offset:-3px}.ml-tab-panel{flex:1;min-height:0;overflow-y:auto}.ml-panel{align-content:start;gap:10px;padding:12px 14px 20px;display:grid}.number{font-variant-numeric:tabular-nums}.ml-group-list,.ml-link-list,.ml-column-list,.ml-export-list{gap:10px;display:grid}.ml-group{border:1px solid var(--ml-line);border-radius:var(--ml-radius);gap:6px;padding:8px 10px 10px;display:grid}.ml-group-head{align-items:center;gap:8px;display:flex}.ml-group-symbol{display:inline-flex}.ml-symbol{width:16px;height:16px}.ml-group-name{border:1px solid #0000;border-bottom:1px dotted var(--ml-edge);text-overflow:ellipsis;background:0 0;border-radius:4px;flex:1;min-width:0;padding:2px 6px;font-weight:650}.ml-group-name:hover,.ml-group-name:focus{border:1px solid var(--ml-edge);background:var(--ml-back)}.ml-traits{gap:2px;font-size:13px;display:grid}.ml-traits li{text-indent:-14px;padding-left:14px}.ml-traits li:before{content:\"•\";width:14px;color:var(--ml-quiet);text-indent:0;display:inline-block}.ml-group-foot{flex-wrap:wrap;justify-content:space-between;align-items:center;gap:6px;display:flex}.ml-group-details[open]{flex:1 0 100%}.ml-group-actions{margin-left:auto}.ml-group-details summary{width:-moz-fit-content;width:fit-content;color:var(--ml-quiet);cursor:pointer;font-size:13px}.ml-typical{gap:4px;padding:4px 0 0 14px;display:grid}.ml-row-name{color:var(--ml-accent);cursor:pointer;background:0 0;border:0;margin-right:8px;padding:0;text-decoration:underline}.ml-group-actions,.ml-history-actions,.ml-link-actions{gap:6px;display:flex}.ml-filters{grid-template-columns:minmax(0,1.2fr) repeat(2,minmax(0,1fr));gap:6px;display:grid}.ml-link{border-bottom:1px solid var(--ml-line);gap:4px;padding-bottom:10px;display:grid}.ml-link.suspect{border-left:4px solid var(--ml-mark-edge);padding-left:10px}.ml-link-names{overflow-wrap:anywhere;flex-wrap:wrap;align-items:center;gap:4px 8px;display:flex}.ml-link-why{color:var(--ml-mark-ink);font-size:13px}.ml-link-foot{flex-wrap:wrap;justify-content:space-between;align-items:center;gap:6px;display:flex}.ml-link-tags{flex-wrap:wrap;align-items:center;gap:4px;display:flex}.ml-column-row{grid-template-columns:minmax(0,40%) minmax(0,1fr) 44px;align-items:center;gap:10px;display:grid}.ml-column-name{overflow-wrap:anywhere}.ml-column-row .number{text-align:right}.ml-snapshot-form{gap:6px;margin:8px 0;display:flex}.ml-snapshot-form .ml-input{flex:1}.ml-steps{display:grid}.ml-step{border-bottom:1px solid var(--ml-line);align-items:baseline;gap:10px;padding:5px 0;display:flex}.ml-step>.number{text-align:right;min-width:2em}.ml-step-text{overflow-wrap:anywhere;flex:1}.ml-export{grid-template-columns:96px minmax(0,1fr);align-items:center;gap:12px;display:grid}.ml-status-text{overflow-wrap:anywhere;flex:260px;min-width:0}.ml-status.warning .ml-status-text{color:var(--ml-danger);font-weight:600}.ml-banner{border-bottom:1px solid var(--ml-danger);background:var(--ml-danger-soft);color:var(--ml-danger);padding:9px 14px;font-weight:600}.ml-banner code{font-family:var(--ml-mono)}.ml-veil{z-index:10;background:var(--ml-veil);place-items:center;padding:16px;display:grid;position:absolute;inset:0}.ml-dialog{border:1px solid var(--ml-line);background:var(--ml-back);width:min(600px,100%);max-height:100%;box-shadow:var(--ml-shadow);border-radius:12px;flex-direction:column;gap:12px;padding:20px 22px;display:flex;overflow:hidden}.ml-dialog-title{font-size:18px;font-weight:650}.ml-dialog-body{gap:12px;min-height:0;display:grid;overflow-y:auto}.ml-dialog-buttons{flex-wrap:wrap;justify-content:end;gap:8px;display:flex}.ml-chain{border:1px solid var(--ml-line);border-radius:var(--ml-radius-small);background:var(--ml-raised);gap:4px;padding:10px 12px;display:grid}.ml-chain-link{overflow-wrap:anywhere;border-left:4px solid #0000;flex-wrap:wrap;align-items:center;gap:4px 8px;padding:3px 8px;display:flex}.ml-chain-link.weakest{border-left-color:var(--ml-mark-edge);background:var(--ml-mark);border-radius:4px}.ml-ways{gap:2px;display:grid}.ml-ways dt{margin-top:6px;font-weight:650}.ml-keys{border-collapse:collapse}.ml-keys caption{text-align:left;padding-bottom:4px;font-weight:650}.ml-keys th{text-align:left;width:84px;padding:2px 0;font-weight:400}.ml-check{align-items:center;gap:8px;display:flex}", Rr = class extends r {
	model;
	receive = (e, t) => {
		this.status !== "open" && this.setStatus("open");
		let n = e;
		if (n.type === "bytes") for (let e of t) this.receiveBytes(e);
		else n.type === "closed" ? this.setStatus("closed", n.message) : this.receiveMessage(n);
	};
	constructor(e) {
		super(Math.floor(Math.random() * 2 ** 46)), this.model = e, e.on("msg:custom", this.receive), e.send({ do: "open" });
	}
	transmit(e) {
		this.model.send(e);
	}
	close() {
		this.model.off("msg:custom", this.receive), this.setStatus("closed", "The notebook closed this view.");
	}
};
function zr({ model: e, el: t }) {
	let n = document.createElement("style");
	n.textContent = Lr;
	let r = document.createElement("div");
	r.classList.add("ml-in-notebook"), t.append(n, r);
	let i = new Rr(e), a = Ir(r, i);
	return () => {
		a.destroy(), i.close();
	};
}
var Br = { render: zr };
export { Br as default };
