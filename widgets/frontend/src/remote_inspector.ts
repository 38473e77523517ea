/** The inspector of a page behind which a program reads the model. */

import type { Traits } from "./host/connection";
import type { CanvasTraits } from "./host/traits";
import { Block } from "./standalone/block";
import { Inspector } from "./standalone/inspector";
import { WeightBlock } from "./standalone/weights";
import type { Questions } from "./live/questions";

/** Make one that asks the program; `goTo` shows and selects what is at a path. */
export function makeInspector(
  traits: Traits<CanvasTraits>,
  questions: Questions,
  goTo: (path: string) => void,
): Inspector {
  return new Inspector(traits, {
    describe: (path) => questions.describe(path),
    describeSeveral: (paths) => questions.describeSeveral(paths),
    readWeight: async (number) => {
      const block = await Block.unpack("statistics", await questions.readWeight(number));
      return new WeightBlock(block).read(0);
    },
    goTo,
  });
}
