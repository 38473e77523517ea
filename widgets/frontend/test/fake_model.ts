import type { WidgetModel } from "../src/host/anywidget";

type Listener = (...values: any[]) => void;

/** A widget's model without a kernel: the tests play the kernel, and see what it would get. */
export class FakeModel implements WidgetModel {
  /** the messages that were sent */
  sent: any[] = [];
  /** the traits at each time that they were saved */
  saved: Array<Record<string, unknown>> = [];
  /** whether sending fails, as it does once the comm is closed */
  isClosed = false;
  private listeners: Array<readonly [string, Listener]> = [];

  constructor(readonly values: Record<string, unknown> = {}) {}

  get(name: string): unknown {
    return this.values[name];
  }

  set(name: string, value: unknown): void {
    this.values[name] = value;
    this.call(`change:${name}`);
  }

  save_changes(): void {
    this.saved.push({ ...this.values });
  }

  on(event: string, listener: Listener): void {
    this.listeners.push([event, listener]);
  }

  off(event: string, listener: Listener): void {
    this.listeners = this.listeners.filter(([e, other]) => e !== event || other !== listener);
  }

  send(content: unknown): void {
    if (this.isClosed) throw new Error("the comm is closed");
    this.sent.push(content);
  }

  /** A message of the kernel comes in. */
  receive(message: unknown, buffers: unknown[] = []): void {
    this.call("msg:custom", message, buffers);
  }

  /** The kernel goes away. */
  loseKernel(): void {
    this.call("comm_live_update");
  }

  /** How many listen to anything. */
  get listening(): number {
    return this.listeners.length;
  }

  private call(event: string, ...given: unknown[]): void {
    for (const [wanted, listener] of [...this.listeners]) if (wanted === event) listener(...given);
  }
}
