/**
 * @typedef {import("../src/host/anywidget").WidgetModel} WidgetModel
 * @typedef {(...values: any[]) => void} Listener
 */

/**
 * A widget's model without a kernel: the tests play the kernel, and see what it would get.
 *
 * It is plain JavaScript, since tests/browser/stand.py hands it to a browser as it is.
 *
 * @implements {WidgetModel}
 */
export class FakeModel {
  /** @type {any[]} the messages that the kernel got */
  sent = [];
  /** @type {Array<Record<string, unknown>>} the traits that it got each time some were saved */
  saved = [];
  /** whether sending fails, as it does once the comm is closed */
  isClosed = false;
  /** @type {Array<readonly [string, Listener]>} */
  listeners = [];
  /** @type {Set<string>} names of the traits that were set and not saved yet */
  unsaved = new Set();

  /** @param {Record<string, unknown>} values the traits at first */
  constructor(values = {}) {
    this.values = values;
  }

  // what a widget calls

  /** @param {string} name */
  get(name) {
    return this.values[name];
  }

  /**
   * @param {string} name
   * @param {unknown} value
   */
  set(name, value) {
    this.unsaved.add(name);
    this.receiveTrait(name, value);
  }

  save_changes() {
    this.saved.push(Object.fromEntries([...this.unsaved].map((name) => [name, this.values[name]])));
    this.unsaved.clear();
  }

  /**
   * @param {string} event
   * @param {Listener} listener
   */
  on(event, listener) {
    this.listeners.push([event, listener]);
  }

  /**
   * @param {string} event
   * @param {Listener} listener
   */
  off(event, listener) {
    this.listeners = this.listeners.filter(([e, other]) => e !== event || other !== listener);
  }

  /** @param {unknown} content */
  send(content) {
    if (this.isClosed) throw new Error("the comm is closed");
    this.sent.push(content);
  }

  // what a kernel does

  /**
   * The kernel sets a trait.
   *
   * @param {string} name
   * @param {unknown} value
   */
  receiveTrait(name, value) {
    this.values[name] = value;
    this.call(`change:${name}`);
  }

  /**
   * A message of the kernel comes in.
   *
   * @param {unknown} message
   * @param {unknown[]} buffers
   */
  receive(message, buffers = []) {
    this.call("msg:custom", message, buffers);
  }

  /** The kernel goes away. */
  loseKernel() {
    this.call("comm_live_update");
  }

  /** How many listen to anything. */
  get listening() {
    return this.listeners.length;
  }

  /**
   * @param {string} event
   * @param {unknown[]} given
   */
  call(event, ...given) {
    for (const [wanted, listener] of [...this.listeners]) if (wanted === event) listener(...given);
  }
}
