/** Options of a view, from the same file as Python's: which there are and what menus call them. */

import options from "../../../../explorer/options/options.json";

export type Details = keyof typeof options.details.choices;
export type Direction = keyof typeof options.direction.choices;
export type Expand = keyof typeof options.expand.choices;
export type Grouping = keyof typeof options.grouping.choices;
/** whose share bars show: a menu has nothing that is chosen by itself */
export type Share = Exclude<keyof typeof options.share.choices, "auto">;
export type ThemeName = keyof typeof options.theme.choices;

/** The choices of an option that have an entry in the menu, each with it. */
export function listEntries<Word extends string>(
  choices: Record<Word, { meaning: string; menu?: string }>,
): Array<readonly [Word, string]> {
  return (Object.keys(choices) as Word[]).flatMap((word) => {
    const { menu } = choices[word];
    return menu === undefined ? [] : [[word, menu] as const];
  });
}

export default options;
