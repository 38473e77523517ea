/** A drawing target that writes SVG: what the canvas is drawn with, as far as a still picture needs. */

type Drawn = Pick<
  CanvasRenderingContext2D,
  | "globalAlpha" | "fillStyle" | "strokeStyle" | "lineWidth" | "font" | "textAlign" | "textBaseline"
  | "beginPath" | "moveTo" | "lineTo" | "bezierCurveTo" | "arc" | "rect" | "roundRect" | "closePath"
  | "fill" | "stroke" | "fillRect" | "fillText" | "setLineDash"
>;

/** Everything that XML 1.0 has no place for. */
const NO_XML = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ANCHORS: Partial<Record<CanvasTextAlign, string>> = { center: "middle", right: "end" };
const FONT = /^(bold )?([\d.]+)px (.*)$/;

/** Text that may stand in XML, within quotes too. */
export function escapeText(text: string): string {
  return text
    .replace(NO_XML, "\uFFFD")
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/'/g, "&#39;");
}

export class SvgContext implements Drawn {
  globalAlpha = 1;
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  font = "";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private readonly parts: string[] = [];
  private path: string[] = [];
  private dashes: number[] = [];

  /** The elements that have been drawn, a line each. */
  get elements(): string {
    return this.parts.join("\n");
  }

  setLineDash(dashes: number[]): void {
    this.dashes = dashes;
  }

  beginPath(): void {
    this.path = [];
  }

  moveTo(...at: number[]): void {
    this.path.push(`M${write(at)}`);
  }

  lineTo(...at: number[]): void {
    this.path.push(`L${write(at)}`);
  }

  bezierCurveTo(...at: number[]): void {
    this.path.push(`C${write(at)}`);
  }

  closePath(): void {
    this.path.push("z");
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path.push(`M${write([x, y])}h${write([width])}v${write([height])}h${write([-width])}z`);
  }

  /** A whole circle. */
  arc(x: number, y: number, radius: number): void {
    const [r, across] = [write([radius, radius]), write([2 * radius])];
    this.path.push(`M${write([x - radius, y])}a${r} 0 1 1 ${across} 0a${r} 0 1 1 -${across} 0z`);
  }

  roundRect(x: number, y: number, width: number, height: number, radii: unknown): void {
    const asked = Array.isArray(radii) ? (radii as number[]) : [Number(radii)];
    // one for all, or the upper left, upper right, lower right and lower left one
    const corners = asked.length === 1 ? Array<number>(4).fill(asked[0]) : asked;
    const [a, b, c, d] = corners.map((r) => Math.max(Math.min(r, width / 2, height / 2), 0));
    const turn = (r: number, dx: number, dy: number): string =>
      r > 0 ? `a${write([r, r])} 0 0 1 ${write([dx, dy])}` : "";
    this.path.push(
      `M${write([x + a, y])}H${write([x + width - b])}${turn(b, b, b)}`,
      `V${write([y + height - c])}${turn(c, -c, c)}H${write([x + d])}${turn(d, -d, -d)}`,
      `V${write([y + a])}${turn(a, a, -a)}z`,
    );
  }

  fill(): void {
    this.add("path", `d="${this.path.join("")}" fill="${escapeText(this.fillStyle)}"`);
  }

  stroke(): void {
    const dashes = this.dashes.length > 0 ? ` stroke-dasharray="${write(this.dashes)}"` : "";
    const stroke = `stroke="${escapeText(this.strokeStyle)}" stroke-width="${write([this.lineWidth])}"`;
    this.add("path", `d="${this.path.join("")}" fill="none" ${stroke}${dashes}`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    const size = `width="${write([width])}" height="${write([height])}"`;
    this.add("rect", `x="${write([x])}" y="${write([y])}" ${size} fill="${escapeText(this.fillStyle)}"`);
  }

  fillText(text: string, x: number, y: number): void {
    const [, bold, size] = FONT.exec(this.font) ?? [];
    const weight = bold ? ' font-weight="bold"' : "";
    const anchor = ANCHORS[this.textAlign];
    const written = anchor ? ` text-anchor="${anchor}"` : "";
    const place = `x="${write([x])}" y="${write([y])}" font-size="${size ?? 12}"`;
    const colour = `fill="${escapeText(this.fillStyle)}"`;
    this.add("text", `${place}${weight}${written} ${colour}`, escapeText(text));
  }

  private add(name: string, attributes: string, text = ""): void {
    if (name === "path" && this.path.length === 0) return;
    const opacity = this.globalAlpha < 1 ? ` opacity="${write([this.globalAlpha])}"` : "";
    const end = text ? `>${text}</${name}>` : "/>";
    this.parts.push(`<${name} ${attributes}${opacity}${end}`);
  }
}

/** Numbers with two decimals at most. */
function write(numbers: readonly number[]): string {
  return numbers.map((number) => String(Math.round(number * 100) / 100)).join(" ");
}
