/** Sizes of what is drawn, from the same file as every other writer: pixels at zoom 1. */

import sizes from "../../../../explorer/render/sizes.json";

export default sizes;
