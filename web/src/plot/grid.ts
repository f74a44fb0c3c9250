// Search of rows by their place: cells of equal size, each a run of rows in one array.

const PER_CELL = 4;

export class Grid {
  private readonly side: number;
  private readonly starts: Uint32Array;
  private readonly rows: Uint32Array;
  private readonly x0: number;
  private readonly y0: number;
  private readonly cellsX: number;
  private readonly cellsY: number;

  constructor(private readonly positions: Float32Array) {
    const n = positions.length / 2;
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < n; i++) {
      const x = positions[2 * i]!;
      const y = positions[2 * i + 1]!;
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
    }
    this.x0 = n ? x0 : 0;
    this.y0 = n ? y0 : 0;
    const extent = n ? Math.max(x1 - x0, y1 - y0, 1e-6) : 1;
    this.side = extent / Math.max(1, Math.ceil(Math.sqrt(n / PER_CELL)));
    this.cellsX = n ? Math.floor((x1 - x0) / this.side) + 1 : 1;
    this.cellsY = n ? Math.floor((y1 - y0) / this.side) + 1 : 1;
    this.starts = new Uint32Array(this.cellsX * this.cellsY + 1);
    this.rows = new Uint32Array(n);
    const cells = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      const cell = this.cellY(positions[2 * i + 1]!) * this.cellsX + this.cellX(positions[2 * i]!);
      cells[i] = cell;
      this.starts[cell + 1]!++;
    }
    for (let c = 0; c < this.cellsX * this.cellsY; c++) this.starts[c + 1]! += this.starts[c]!;
    const next = this.starts.slice();
    for (let i = 0; i < n; i++) this.rows[next[cells[i]!]!++] = i;
  }

  private cellX(x: number): number {
    return Math.max(0, Math.min(this.cellsX - 1, Math.floor((x - this.x0) / this.side)));
  }

  private cellY(y: number): number {
    return Math.max(0, Math.min(this.cellsY - 1, Math.floor((y - this.y0) / this.side)));
  }

  /** Nearest row at most `within` away for which `accept` holds; the lowest one of several equally near. */
  nearest(x: number, y: number, within: number, accept: (row: number) => boolean = () => true): number | null {
    let best: number | null = null;
    let bestSquare = within * within;
    const toCell = (value: number, from: number): number => Math.floor((value - from) / this.side);
    const cx = toCell(x, this.x0);
    const cy = toCell(y, this.y0);
    const maxRing = Math.ceil(Math.min(within, 1e6) / this.side) + 1;
    const lastRing = Math.max(Math.abs(cx), Math.abs(cy), Math.abs(this.cellsX - 1 - cx), Math.abs(this.cellsY - 1 - cy));
    for (let ring = 0; ring <= Math.min(maxRing, lastRing); ring++) {
      // Cells of this ring are at least (ring - 1) sides away.
      if (ring > 1 && ((ring - 1) * this.side) ** 2 > bestSquare) break;
      this.eachInRing(cx, cy, ring, (row) => {
        const dx = this.positions[2 * row]! - x;
        const dy = this.positions[2 * row + 1]! - y;
        const square = dx * dx + dy * dy;
        if (square > bestSquare || (square === bestSquare && best !== null && row > best) || !accept(row)) return;
        best = row;
        bestSquare = square;
      });
    }
    return best;
  }

  private eachInRing(cx: number, cy: number, ring: number, fn: (row: number) => void): void {
    const y0 = Math.max(0, cy - ring);
    const y1 = Math.min(this.cellsY - 1, cy + ring);
    for (let j = y0; j <= y1; j++) {
      const isEdge = j === cy - ring || j === cy + ring;
      const step = isEdge || ring === 0 ? 1 : 2 * ring;
      for (let i = cx - ring; i <= cx + ring; i += step) {
        if (i < 0 || i >= this.cellsX) continue;
        const cell = j * this.cellsX + i;
        for (let k = this.starts[cell]!; k < this.starts[cell + 1]!; k++) fn(this.rows[k]!);
      }
    }
  }

  /** Call `fn` for all rows in a box; ends early when it returns false. */
  eachInBox(x0: number, y0: number, x1: number, y1: number, fn: (row: number) => boolean | void): void {
    for (let j = this.cellY(y0); j <= this.cellY(y1); j++) {
      for (let i = this.cellX(x0); i <= this.cellX(x1); i++) {
        const cell = j * this.cellsX + i;
        for (let k = this.starts[cell]!; k < this.starts[cell + 1]!; k++) {
          const row = this.rows[k]!;
          const x = this.positions[2 * row]!;
          const y = this.positions[2 * row + 1]!;
          if (x >= x0 && x <= x1 && y >= y0 && y <= y1 && fn(row) === false) return;
        }
      }
    }
  }

  /** Nearest row in a direction: distance along it counts once, distance from its line twice. */
  toward(row: number, dx: number, dy: number): number | null {
    const x = this.positions[2 * row]!;
    const y = this.positions[2 * row + 1]!;
    for (let reach = 4 * this.side; ; reach *= 2) {
      let best: number | null = null;
      let bestCost = Infinity;
      const box = this.boxToward(x, y, dx, dy, reach);
      this.eachInBox(...box, (other) => {
        const ox = this.positions[2 * other]! - x;
        const oy = this.positions[2 * other + 1]! - y;
        const along = ox * dx + oy * dy;
        const aside = Math.abs(ox * dy - oy * dx);
        if (other === row || along <= 0 || aside > along) return;
        const cost = along + 2 * aside;
        if (cost < bestCost) {
          best = other;
          bestCost = cost;
        }
      });
      // A row outside of the box is farther than its reach.
      if ((best !== null && bestCost <= reach) || reach > 8) return best;
    }
  }

  private boxToward(x: number, y: number, dx: number, dy: number, reach: number): [number, number, number, number] {
    return [
      dx < 0 || dx === 0 ? x - reach : x,
      dy < 0 || dy === 0 ? y - reach : y,
      dx > 0 || dx === 0 ? x + reach : x,
      dy > 0 || dy === 0 ? y + reach : y,
    ];
  }
}

/** Rows inside a closed polygon of world positions [x0, y0, x1, y1, ...]. */
export function rowsInPolygon(grid: Grid, positions: Float32Array, polygon: readonly number[]): number[] {
  const xs = polygon.filter((_, i) => i % 2 === 0);
  const ys = polygon.filter((_, i) => i % 2 === 1);
  if (xs.length < 3) return [];
  const inside: number[] = [];
  grid.eachInBox(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (row) => {
    const x = positions[2 * row]!;
    const y = positions[2 * row + 1]!;
    let odd = false;
    for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
      const crosses = ys[i]! > y !== ys[j]! > y;
      if (crosses && x < ((xs[j]! - xs[i]!) * (y - ys[i]!)) / (ys[j]! - ys[i]!) + xs[i]!) odd = !odd;
    }
    if (odd) inside.push(row);
  });
  return inside.sort((a, b) => a - b);
}

/** The row onto which others are dropped: the nearest drawn one within eps that is not itself moved. */
export function dropTarget(
  grid: Grid,
  positions: Float32Array,
  moved: ReadonlySet<number>,
  x: number,
  y: number,
  eps: number,
): [number, number, number] | null {
  const row = grid.nearest(x, y, eps, (other) => !moved.has(other));
  if (row === null) return null;
  const [rowX, rowY] = [positions[2 * row]!, positions[2 * row + 1]!];
  // Rows are together when they are nearer than eps, not at eps.
  return Math.hypot(rowX - x, rowY - y) < eps ? [row, rowX, rowY] : null;
}
