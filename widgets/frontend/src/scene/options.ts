/** Options of a view, from the same file as Python's: which there are and what menus call them. */

import options from "../../../../explorer/options/options.json";

export type Details = keyof typeof options.details.choices;
export type Direction = keyof typeof options.direction.choices;
export type Expand = keyof typeof options.expand.choices;
export type Grouping = keyof typeof options.grouping.choices;
export type Share = keyof typeof options.share.choices;
export type ThemeName = keyof typeof options.theme.choices;

/** The choices of an option, each with its entry in the menu. */
export function listEntries<Word extends string>(
  choices: Record<Word, { menu: string }>,
): Array<readonly [Word, string]> {
  return (Object.keys(choices) as Word[]).map((word) => [word, choices[word].menu]);
}

export default options;
