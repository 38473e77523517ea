/** The connection to a kernel through a widget of anywidget: nothing else here knows anywidget. */

import type { Connection, Traits } from "./connection";
import { type Host, makeHost } from "./host";
import { ALL_ABILITIES } from "./messages";

/** The part of an anywidget model that is used. */
export interface WidgetModel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: (...values: any[]) => void): void;
  off(event: string, callback: (...values: any[]) => void): void;
  send(content: unknown): void;
}

/** What anywidget calls to show a widget. */
export interface WidgetModule {
  render(place: { model: WidgetModel; el: HTMLElement }): () => void;
}

/** What a model hears when its kernel is gone; nothing that it sends arrives any more. */
const KERNEL_GONE = "comm_live_update";

/** A kernel in which an explorer answers everything. */
export const KERNEL: Host = makeHost(ALL_ABILITIES, {
  hasInspector: true,
  words: {
    waiting: "Waiting for the kernel …",
    absent: "No kernel: static picture below",
    silent: "The kernel does not answer.",
    lost: "The kernel that drew this has ended. Run the cell again to go on.",
    renew: "restart the kernel and reload the page",
  },
  // it may be busy with a cell, but who opens a saved notebook is told soon that there is none
  patience: { first: 8_000, answer: 30_000 },
});

/**
 * Make the module of a widget.
 *
 * @param usual the values of traits that the model does not have
 * @param show puts it on the page and returns what takes it away
 */
export function makeWidget<Values extends object, Sent>(
  usual: Values,
  show: (connection: Connection<Values, Sent>, parent: HTMLElement) => () => void,
): WidgetModule {
  return { render: ({ model, el }) => show(connect(model, usual), el) };
}

export function connect<Values extends object, Sent>(
  model: WidgetModel,
  usual: Values,
): Connection<Values, Sent> {
  const listen = (event: string, listener: (...values: any[]) => void): (() => void) => {
    model.on(event, listener);
    return () => model.off(event, listener);
  };
  const traits: Traits<Values> = {
    get(name) {
      const value = model.get(String(name));
      return isLike(value, usual[name]) ? value : usual[name];
    },
    set(values) {
      for (const [name, value] of Object.entries(values)) model.set(name, value);
      model.save_changes();
    },
    follow: (name, changed) => listen(`change:${String(name)}`, () => changed()),
  };
  return {
    host: KERNEL,
    traits,
    send: (message) => model.send(message),
    onMessage: (receive) =>
      listen("msg:custom", (message, buffers = []) => receive(message, buffers)),
    onLost: (lost) => listen(KERNEL_GONE, () => lost()),
  };
}

/** Whether a value is of the kind that a trait holds. */
function isLike<Value>(value: unknown, usual: Value): value is Value {
  return typeof value === typeof usual && Array.isArray(value) === Array.isArray(usual);
}
