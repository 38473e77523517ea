/** Reviews as Python writes them. */

export interface Given {
  kind?: number;
  level?: number;
  title?: string;
  where?: string;
  id?: string;
  paths?: string[];
  evidence?: [string, string][];
  accepted?: string;
  fingerprint?: string;
  count?: number;
}

/** A review of such items. */
export function writeReview(items: readonly Given[]): Record<string, unknown> {
  const texts = [""];
  const number = (text: string): number => {
    const known = texts.indexOf(text);
    return known >= 0 ? known : texts.push(text) - 1;
  };
  return {
    headline: "",
    summary: "",
    unchecked: [["weights were not read", "NL-N01"]],
    lacks_weights: true,
    kinds: ["finding", "difference", "audit", "note"],
    levels: [
      ["error", "!", "error", "error"],
      ["warning", "!", "warning", "warning"],
      ["changed", "Δ", "changed", "changed"],
      ["noted", "✎", "note", "note"],
      ["equal", "=", "note", "equal by calculation"],
      ["written", "…", "note", "only written otherwise"],
      ["version", "v", "note", "other version"],
    ],
    items: items.map((given) => [
      given.kind ?? 0,
      given.level ?? 0,
      ...[given.title ?? "title", given.where ?? "", given.id ?? "NL-G02"].map(number),
      ...["why", "remedy", "source", given.accepted ?? ""].map(number),
      given.count ?? 1,
      (given.evidence ?? []).flat().map(number),
      given.paths ?? [],
      number(given.fingerprint ?? ""),
    ]),
    texts,
  };
}
