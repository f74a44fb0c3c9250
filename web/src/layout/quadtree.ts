// Repulsion of many rows in n log n steps (Barnes and Hut), in typed arrays.

const MAX_DEPTH = 40;
const NONE = -1;

export class QuadTree {
  /** Four children per cell; NONE if empty. Rows are stored as -2 - row. */
  private readonly children: Int32Array;
  private readonly mass: Float64Array;
  private readonly cx: Float64Array;
  private readonly cy: Float64Array;
  private readonly next: Int32Array;
  private readonly stack: Int32Array;
  private nCells = 0;
  private readonly x0: number;
  private readonly y0: number;
  private readonly side: number;

  constructor(
    private readonly x: Float64Array,
    private readonly y: Float64Array,
  ) {
    const n = x.length;
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < n; i++) {
      x0 = Math.min(x0, x[i]!);
      y0 = Math.min(y0, y[i]!);
      x1 = Math.max(x1, x[i]!);
      y1 = Math.max(y1, y[i]!);
    }
    this.x0 = x0;
    this.y0 = y0;
    this.side = Math.max(x1 - x0, y1 - y0, 1e-9) * 1.0001;
    // Rows of one place share a leaf, so that a cell splits only a few times more than there are rows.
    const capacity = 4 * n + MAX_DEPTH + 8;
    this.children = new Int32Array(4 * capacity).fill(NONE);
    this.mass = new Float64Array(capacity);
    this.cx = new Float64Array(capacity);
    this.cy = new Float64Array(capacity);
    this.next = new Int32Array(n).fill(NONE);
    this.stack = new Int32Array(4 * (MAX_DEPTH + 2) * 2);
    if (n > 0) this.nCells = 1;
    for (let i = 0; i < n; i++) this.insert(i);
    if (n > 0) this.sum(0);
  }

  private insert(row: number): void {
    const px = this.x[row]!;
    const py = this.y[row]!;
    let cell = 0;
    let [x0, y0, side] = [this.x0, this.y0, this.side];
    for (let depth = 0; ; depth++) {
      side /= 2;
      const right = px >= x0 + side ? 1 : 0;
      const upper = py >= y0 + side ? 1 : 0;
      x0 += right * side;
      y0 += upper * side;
      const slot = 4 * cell + right + 2 * upper;
      const child = this.children[slot]!;
      if (child === NONE) {
        this.children[slot] = -2 - row;
        return;
      }
      if (child >= 0) {
        cell = child;
        continue;
      }
      const other = -2 - child;
      const isSamePlace = this.x[other] === px && this.y[other] === py;
      if (isSamePlace || depth >= MAX_DEPTH || 4 * (this.nCells + 1) > this.children.length) {
        this.next[row] = other;
        this.children[slot] = -2 - row;
        return;
      }
      const split = this.nCells++;
      this.children[slot] = split;
      const otherRight = this.x[other]! >= x0 + side / 2 ? 1 : 0;
      const otherUpper = this.y[other]! >= y0 + side / 2 ? 1 : 0;
      this.children[4 * split + otherRight + 2 * otherUpper] = child;
      cell = split;
    }
  }

  /** Mass and center of every cell; children have higher numbers than their cells. */
  private sum(root: number): void {
    for (let cell = this.nCells - 1; cell >= root; cell--) {
      let [mass, cx, cy] = [0, 0, 0];
      for (let q = 0; q < 4; q++) {
        const child = this.children[4 * cell + q]!;
        if (child >= 0) {
          mass += this.mass[child]!;
          cx += this.mass[child]! * this.cx[child]!;
          cy += this.mass[child]! * this.cy[child]!;
        } else if (child !== NONE) {
          for (let row = -2 - child; row !== NONE; row = this.next[row]!) {
            mass += 1;
            cx += this.x[row]!;
            cy += this.y[row]!;
          }
        }
      }
      this.mass[cell] = mass;
      this.cx[cell] = cx / mass;
      this.cy[cell] = cy / mass;
    }
  }

  /** Add the repulsion of magnitude g / D^2 from all other rows; cells seen under an angle below theta are one row. */
  addRepulsion(fx: Float64Array, fy: Float64Array, g: number, theta: number): void {
    for (let i = 0; i < this.x.length; i++) this.repel(i, fx, fy, g, theta * theta);
  }

  private repel(i: number, fx: Float64Array, fy: Float64Array, g: number, thetaSquare: number): void {
    const { children, stack, mass, cx, cy, x, y, next } = this;
    const px = x[i]!;
    const py = y[i]!;
    let sumX = 0;
    let sumY = 0;
    let top = 0;
    stack[top++] = 0;
    stack[top++] = 0;
    while (top > 0) {
      const depth = stack[--top]!;
      const cell = stack[--top]!;
      const side = this.side * 2 ** -(depth + 1);
      for (let q = 0; q < 4; q++) {
        const child = children[4 * cell + q]!;
        if (child === NONE) continue;
        if (child >= 0) {
          const dx = px - cx[child]!;
          const dy = py - cy[child]!;
          const square = dx * dx + dy * dy;
          if (side * side < thetaSquare * square) {
            const force = (g * mass[child]!) / (square * Math.sqrt(square));
            sumX += force * dx;
            sumY += force * dy;
          } else {
            stack[top++] = child;
            stack[top++] = depth + 1;
          }
          continue;
        }
        for (let j = -2 - child; j !== NONE; j = next[j]!) {
          if (j === i) continue;
          let dx = px - x[j]!;
          let dy = py - y[j]!;
          if (dx === 0 && dy === 0) [dx, dy] = apart(i, j);
          const square = Math.max(dx * dx + dy * dy, MIN_SQUARE);
          const force = g / (square * Math.sqrt(square));
          sumX += force * dx;
          sumY += force * dy;
        }
      }
    }
    fx[i]! += sumX;
    fy[i]! += sumY;
  }
}

/** Below this squared distance in pixels, rows do not repel each other more. */
const MIN_SQUARE = 1e-4;

/** Direction in which two rows at one place part; opposite for the other of them, and the same in every run. */
function apart(i: number, j: number): [number, number] {
  const [low, high] = i < j ? [i, j] : [j, i];
  const angle = 2.399963 * (low + 1) + 1.618034 * high;
  const sign = i < j ? 1 : -1;
  return [sign * 0.01 * Math.cos(angle), sign * 0.01 * Math.sin(angle)];
}
