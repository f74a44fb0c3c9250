// Points with WebGL: one call draws all rows, with the shapes of their groups.

import type { Camera } from "./camera";
import { paletteNumbers } from "./palette";
import { MIN_SHAPE_RADIUS, type PointLayer } from "./points";

const VERTEX = `
attribute vec2 position;
attribute vec4 style;
uniform vec2 center;
uniform vec2 scale;
uniform float size;
uniform vec3 palette[9];
varying vec4 color;
varying float shape;
void main() {
  gl_Position = vec4((position - center) * scale, 0.0, 1.0);
  gl_PointSize = size;
  color = vec4(palette[int(style.x + 0.5)], style.z / 255.0);
  shape = style.y;
}`;

// Signed distances from the outlines of palette.ts, in units of the radius; y downwards, as on the screen.
const FRAGMENT = `
precision mediump float;
uniform float radius;
uniform float extent;
uniform bool discs;
varying vec4 color;
varying float shape;

float box(vec2 p, vec2 half_size) {
  vec2 d = abs(p) - half_size;
  return max(d.x, d.y);
}
float triangle(vec2 p) {
  return max(p.y - 0.8, 0.872 * abs(p.x) - 0.489 * p.y - 0.611);
}
float plus_sign(vec2 p) {
  return min(box(p, vec2(0.42, 1.2)), box(p, vec2(1.2, 0.42)));
}
float star(vec2 p) {
  float angle = atan(p.x, -p.y);
  float part = 0.6283185;
  angle = abs(mod(angle + part, 2.0 * part) - part);
  vec2 q = length(p) * vec2(cos(angle), sin(angle));
  vec2 tip = vec2(1.35, 0.0);
  vec2 notch = 0.62 * vec2(cos(part), sin(part));
  vec2 edge = notch - tip;
  return dot(q - tip, normalize(vec2(edge.y, -edge.x)));
}
float outline(vec2 p) {
  if (discs || shape < 0.5) return length(p) - 1.0;
  if (shape < 1.5) return box(p, vec2(0.88));
  if (shape < 2.5) return triangle(p);
  if (shape < 3.5) return (abs(p.x) + abs(p.y) - 1.25) * 0.7071;
  if (shape < 4.5) return triangle(vec2(p.x, -p.y));
  if (shape < 5.5) return plus_sign(p);
  if (shape < 6.5) return plus_sign(vec2(p.x + p.y, p.x - p.y) * 0.7071);
  return star(p);
}
void main() {
  vec2 p = (gl_PointCoord - 0.5) * extent;
  float alpha = color.a * clamp(0.5 - outline(p) * radius, 0.0, 1.0);
  if (alpha <= 0.0) discard;
  gl_FragColor = vec4(color.rgb * alpha, alpha);
}`;

/** Room around a point of radius 1 for the longest shape and its soft edge. */
const REACH = 1.4;

export class GLPoints implements PointLayer {
  readonly kind = "webgl";
  private ratio = 1;
  private count = 0;
  private positions: Float32Array = new Float32Array(0);
  private styles: Uint8Array = new Uint8Array(0);
  private dark = false;
  private program!: WebGLProgram;
  private positionBuffer!: WebGLBuffer;
  private styleBuffer!: WebGLBuffer;
  private places: Record<string, WebGLUniformLocation | null> = {};
  private isLost = false;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGLRenderingContext,
  ) {
    this.prepare();
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.isLost = true;
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.isLost = false;
      this.prepare();
      this.setPositions(this.positions);
      this.setStyles(this.styles);
      canvas.dispatchEvent(new Event("mustlink-redraw", { bubbles: true }));
    });
  }

  private prepare(): void {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [type, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ] as const) {
      const shader = gl.createShader(type);
      if (!shader) throw new Error("No shader can be made.");
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "A shader does not compile.");
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "The shaders do not fit.");
    this.program = program;
    this.positionBuffer = gl.createBuffer();
    this.styleBuffer = gl.createBuffer();
    for (const name of ["center", "scale", "size", "palette", "radius", "extent", "discs"]) {
      this.places[name] = gl.getUniformLocation(program, name);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.clearColor(0, 0, 0, 0);
  }

  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  setPositions(positions: Float32Array): void {
    const { gl } = this;
    this.positions = positions;
    this.count = positions.length / 2;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.positionBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, positions, gl.DYNAMIC_DRAW);
  }

  setStyles(styles: Uint8Array): void {
    const { gl } = this;
    this.styles = styles;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.styleBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, styles, gl.DYNAMIC_DRAW);
  }

  setDark(dark: boolean): void {
    this.dark = dark;
  }

  draw(camera: Camera, radius: number): void {
    const { gl, places, ratio } = this;
    if (this.isLost) return;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.count === 0 || this.styles.length < 4 * this.count) return;
    gl.useProgram(this.program);
    const device = radius * ratio;
    const discs = radius < MIN_SHAPE_RADIUS;
    const extent = 2 * ((discs ? 1 : REACH) + 0.6 / device);
    gl.uniform2f(places["center"]!, camera.x, camera.y);
    gl.uniform2f(places["scale"]!, (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    gl.uniform1f(places["size"]!, device * extent);
    gl.uniform1f(places["radius"]!, device);
    gl.uniform1f(places["extent"]!, extent);
    gl.uniform1i(places["discs"]!, discs ? 1 : 0);
    gl.uniform3fv(places["palette"]!, paletteNumbers(this.dark));
    this.bind("position", this.positionBuffer, 2, gl.FLOAT);
    this.bind("style", this.styleBuffer, 4, gl.UNSIGNED_BYTE);
    gl.drawArrays(gl.POINTS, 0, this.count);
  }

  private bind(name: string, buffer: WebGLBuffer, size: number, type: number): void {
    const { gl } = this;
    const place = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, false, 0, 0);
  }

  destroy(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
    this.canvas.remove();
  }
}
