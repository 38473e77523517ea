/**
 * The tabs beside the picture in a notebook, and the review.
 *
 * The kernel's side is widgets/review_panel.py.
 */

import { makeWidget } from "./host/anywidget";
import type { Connection } from "./host/connection";
import type { ReviewMessage, ReviewRequest } from "./review/connection";
import { ReviewView } from "./review/review_view";

type Nothing = Record<string, never>;

export default makeWidget({}, (connection: Connection<Nothing, ReviewRequest>, parent) => {
  let isLost = false;
  const view = new ReviewView(
    {
      canCheck: true,
      notesFile: null,
      owns: () => true,
      send: (request) => {
        if (!isLost) connection.send(request);
      },
      onMessage: (receive) => connection.onMessage((message) => receive(message as ReviewMessage)),
      onLost: (lost) =>
        connection.onLost(() => {
          isLost = true;
          lost();
        }),
    },
    parent,
  );
  return () => view.dispose();
});
