import { expect, test } from "vitest";
import { KERNEL } from "../../src/host/anywidget";
import { ABILITIES, ALL_ABILITIES, type Ability, type Request } from "../../src/host/messages";
import { hostThatCan } from "../hosts";

type Answered = (typeof ABILITIES)[Ability][number];
type Unanswered = Exclude<Request["type"], Answered | "scene">;
/** for the type checker: every request belongs to something that a host can do */
const IS_ALL_ANSWERED: [Unanswered] extends [never] ? true : Unanswered = true;

test("every request but for the scene belongs to one ability", () => {
  const answered = Object.values(ABILITIES).flat();
  expect(new Set(answered).size).toBe(answered.length);
  expect(IS_ALL_ANSWERED).toBe(true);
});

test("a kernel can do everything, another host what it says", () => {
  const little = hostThatCan("search", "legend");
  for (const ability of ALL_ABILITIES) {
    expect(KERNEL.can(ability)).toBe(true);
    expect(little.can(ability)).toBe(ability === "search" || ability === "legend");
  }
});
