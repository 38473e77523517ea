/** The part of an anywidget model that the canvas uses. */
export interface WidgetModel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: (...values: any[]) => void): void;
  off(event: string, callback: (...values: any[]) => void): void;
  send(content: unknown): void;
}

export function readText(model: WidgetModel, name: string): string {
  const value = model.get(name);
  return typeof value === "string" ? value : "";
}

export function readTexts(model: WidgetModel, name: string): readonly string[] {
  const value = model.get(name);
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
