/** A style sheet is bundled as text, for the canvas's shadow root. */
declare module "*.css" {
  const text: string;
  export default text;
}
