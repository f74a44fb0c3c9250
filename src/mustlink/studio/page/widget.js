function e(e) {
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
var t = class {
	status = "connecting";
	statusText = "";
	listeners = /* @__PURE__ */ new Set();
	pending = /* @__PURE__ */ new Map();
	next = 1;
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
	receiveBytes(t) {
		let n = e(t);
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
};
// src/panels/index.ts
function n(e, t) {
	return t.subscribe(["state", "notice"], () => {
		e.status.textContent = t.notice || t.state?.shown.text || "";
	});
}
// src/plot/index.ts
function r(e, t, n) {
	return e.setAttribute("role", "application"), e.setAttribute("aria-label", "Map of the rows"), {
		screenPosition: () => null,
		nearest: () => null,
		drawnAt: 0,
		fit() {},
		focus() {},
		destroy() {
			e.replaceChildren();
		}
	};
}
// src/store.ts
var i = class {
	connection;
	hello = null;
	state = null;
	question = null;
	panels = null;
	positions = /* @__PURE__ */ new Map();
	labels = /* @__PURE__ */ new Uint16Array();
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
			throw this.setNotice(a(e)), e;
		} finally {
			this.setBusy(-1);
		}
	}
	async ask(e) {
		try {
			return await this.connection.request(e);
		} catch (e) {
			throw this.setNotice(a(e)), e;
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
	startOver(e) {
		this.hello = e, this.positions.clear(), this.rows.clear(), this.labels = new Uint16Array(e.n_rows).fill(65535), this.confidence = new Uint8Array(e.n_rows).fill(255), this.edges = /* @__PURE__ */ new Uint32Array(), this.selection = this.selection.filter((t) => t < e.n_rows), this.hovered = null, this.wanted = this.view, this.view = null;
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
				this.labels = e.values, this.tell("labels");
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
function a(e) {
	return e instanceof Error ? e.message : String(e);
}
// src/main.ts
function o(e, t, n = {}) {
	let r = document.createElement(e);
	r.className = `ml-${t}`;
	for (let [e, t] of Object.entries(n)) r.setAttribute(e, t);
	return r;
}
function s(e) {
	e.classList.add("ml-studio");
	let t = {
		root: e,
		toolbar: o("header", "toolbar"),
		plot: o("div", "plot"),
		question: o("section", "question", {
			role: "region",
			"aria-label": "Question"
		}),
		side: o("aside", "side", { "aria-label": "Panels" }),
		status: o("div", "status", {
			role: "status",
			"aria-label": "Status"
		}),
		dialogs: o("div", "dialogs")
	}, n = o("main", "main");
	return n.append(t.plot, t.question), e.replaceChildren(t.toolbar, n, t.side, t.status, t.dialogs), t;
}
function c(e, t) {
	let a = new i(t), o = s(e), c = r(o.plot, a, e), l = n(o, a), u = {
		store: a,
		plot: c,
		destroy() {
			l(), c.destroy(), a.destroy(), e.replaceChildren(), window.mustlinkStudio?.store === a && delete window.mustlinkStudio;
		}
	};
	return window.mustlinkStudio = {
		store: a,
		plot: c
	}, u;
}
// src/styles/index.css?inline
var l = ".ml-studio{--ml-back:#fff;--ml-raised:#f6f7f8;--ml-text:#1c2126;--ml-quiet:#5a6470;--ml-line:#d5dae0;--ml-accent:#0067a3;--ml-on-accent:#fff;--ml-danger:#b3261e;--ml-good:#00734f;--ml-radius:6px;--ml-gap:12px;--ml-font:system-ui, -apple-system, \"Segoe UI\", Roboto, \"Noto Sans\", sans-serif;--lightningcss-light:initial;--lightningcss-dark: ;color-scheme:light}@media (prefers-color-scheme:dark){.ml-studio:not([data-theme=light]){--ml-back:#14181c;--ml-raised:#1e242a;--ml-text:#e8ecf0;--ml-quiet:#a3aeb9;--ml-line:#39424c;--ml-accent:#6cc0f5;--ml-on-accent:#06202f;--ml-danger:#ff8a80;--ml-good:#4fd1a5;--lightningcss-light: ;--lightningcss-dark:initial;color-scheme:dark}}.ml-studio[data-theme=dark]{--ml-back:#14181c;--ml-raised:#1e242a;--ml-text:#e8ecf0;--ml-quiet:#a3aeb9;--ml-line:#39424c;--ml-accent:#6cc0f5;--ml-on-accent:#06202f;--ml-danger:#ff8a80;--ml-good:#4fd1a5;--lightningcss-light: ;--lightningcss-dark:initial;color-scheme:dark}:is(html:has(#studio),body:has(#studio)){height:100%;margin:0}#studio{height:100dvh}.ml-studio{box-sizing:border-box;background:var(--ml-back);color:var(--ml-text);font:14px/1.45 var(--ml-font);grid-template:\"toolbar toolbar\"\"main side\"minmax(0,1fr)\"status status\"/minmax(0,1fr) 360px;display:grid}.ml-studio *,.ml-studio :before,.ml-studio :after{box-sizing:border-box}.ml-in-notebook{border:1px solid var(--ml-line);border-radius:var(--ml-radius);height:720px}.ml-toolbar{border-bottom:1px solid var(--ml-line);background:var(--ml-raised);grid-area:toolbar}.ml-main{grid-area:main;grid-template-rows:minmax(0,1fr) auto;min-width:0;min-height:0;display:grid}.ml-plot{min-width:0;min-height:0;position:relative;overflow:hidden}.ml-side{border-left:1px solid var(--ml-line);grid-area:side;min-height:0;overflow:auto}.ml-status{min-height:28px;padding:4px var(--ml-gap);border-top:1px solid var(--ml-line);background:var(--ml-raised);color:var(--ml-quiet);grid-area:status}", u = class extends t {
	model;
	receive = (e, t) => {
		this.status !== "open" && this.setStatus("open");
		let n = e;
		if (n.type === "bytes") for (let e of t) this.receiveBytes(e);
		else n.type === "closed" ? this.setStatus("closed", n.message) : this.receiveMessage(n);
	};
	constructor(e) {
		super(), this.model = e, e.on("msg:custom", this.receive), e.send({ do: "open" });
	}
	transmit(e) {
		this.model.send(e);
	}
	close() {
		this.model.off("msg:custom", this.receive), this.setStatus("closed", "The notebook closed this view.");
	}
};
function d({ model: e, el: t }) {
	let n = document.createElement("style");
	n.textContent = l;
	let r = document.createElement("div");
	r.classList.add("ml-in-notebook"), t.append(n, r);
	let i = new u(e), a = c(r, i);
	return () => {
		a.destroy(), i.close();
	};
}
var f = { render: d };
export { f as default };
