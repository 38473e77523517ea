/**
 * Canvas and inspector in one widget, for notebooks that show no widgets inside of widgets.
 *
 * The kernel's side is widgets/page_canvas.py.
 */

import { CanvasView } from "./canvas";
import { makeElement } from "./controls/elements";
import { KERNEL, makeWidget } from "./host/anywidget";
import type { CanvasConnection, Connection } from "./host/connection";
import type { Host } from "./host/host";
import { CANVAS_TRAITS, type CanvasTraits } from "./host/traits";
import { Questions } from "./live/questions";
import { makeInspector } from "./remote_inspector";
import { RemoteReview } from "./live/remote_review";
import type { ReviewMessage } from "./review/connection";

type Content = Readonly<Record<string, unknown>>;

/** what a kernel says of itself, but that nothing else stands below */
const host: Host = {
  ...KERNEL,
  words: { ...KERNEL.words, absent: "No kernel: run the notebook to see the model" },
};

export default makeWidget(CANVAS_TRAITS, (made: CanvasConnection, parent) => {
  const connection = { ...made, host };
  const { traits } = connection;
  // what is no request of a canvas is for the inspector
  const kernel: Connection<CanvasTraits, Content> = made as never;
  let isLost = false;
  const send = (content: Content): void => {
    if (!isLost) kernel.send(content);
  };
  const questions = new Questions(send, () => host.words.lost);
  const inspector = makeInspector(traits, questions, (path) => send({ follow: path }));
  const review = new RemoteReview(
    traits,
    (request) => send({ review: request }),
    (lost) => connection.onLost(lost),
  );
  const stops = [
    connection.onMessage((message, buffers) => {
      const content = message as Content;
      if ("answer" in content) questions.take(content.answer as Content, buffers);
      else if ("renew" in content) inspector.renew();
      else if ("review" in content) review.take(content.review as ReviewMessage);
    }),
    connection.onLost(() => {
      isLost = true;
      questions.lose();
    }),
  ];
  const tabs = inspector.showReview(review);
  const around = makeElement("div", "nl-explorer");
  const place = makeElement("div", "nl-explorer-canvas");
  around.append(place, inspector.element);
  parent.append(around);
  const view = new CanvasView(connection, place);
  return () => {
    for (const stop of stops) stop();
    tabs.dispose();
    view.dispose();
    around.remove();
  };
});
