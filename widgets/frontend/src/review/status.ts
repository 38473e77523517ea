/** The line that says how far a check is, and offers to begin one. */

import { makeElement } from "../controls/elements";
import type { CheckProgress } from "./connection";
import { makeButton } from "./detail";

export interface StatusActions {
  check(what: "rules" | "weights"): void;
  stop(): void;
}

const WORDS = { checking: "Applying rules …", reading: "Reading weights …" } as const;

export class Status {
  readonly element = makeElement("div", "nl-review-status");
  private readonly text = makeElement("span", "nl-review-status-text");
  private readonly bar = makeElement("progress", "nl-review-progress");
  private readonly button: HTMLButtonElement;
  private press: () => void = () => undefined;

  constructor(private readonly actions: StatusActions) {
    this.button = makeButton("", () => this.press());
    this.text.setAttribute("role", "status");
    this.bar.max = 1;
    this.bar.setAttribute("aria-label", "How far the check is");
    this.element.append(this.text, this.bar, this.button);
    this.element.hidden = true;
  }

  /**
   * @param lacksWeights whether rules that read weights were left out
   * @param canCheck whether anything can be done about that
   */
  show({ stage, share, error }: CheckProgress, lacksWeights: boolean, canCheck: boolean): void {
    const isBusy = stage === "checking" || stage === "reading";
    this.bar.hidden = !isBusy;
    if (share === null) this.bar.removeAttribute("value");
    else this.bar.value = share;
    this.button.hidden = !canCheck;
    if (!canCheck) {
      this.say(error, "", () => undefined);
      this.element.hidden = error === "";
    } else if (isBusy) {
      this.say(WORDS[stage], "stop", () => this.actions.stop());
    } else if (stage === "unchecked") {
      this.say(error || "Rules were not applied.", "check the model", () =>
        this.actions.check("rules"),
      );
    } else if (error) {
      this.say(error, lacksWeights ? "read the weights" : "check again", () =>
        this.actions.check(lacksWeights ? "weights" : "rules"),
      );
    } else if (lacksWeights) {
      this.say("Weights were not read.", "read the weights", () => this.actions.check("weights"));
    } else {
      this.element.hidden = true;
    }
    this.element.classList.toggle("nl-review-error", error !== "" && !isBusy);
  }

  /** Nothing can be asked for any more. */
  disable(): void {
    this.button.disabled = true;
  }

  private say(text: string, label: string, press: () => void): void {
    this.element.hidden = false;
    if (this.text.textContent !== text) this.text.textContent = text; // else it is spoken again
    this.button.textContent = label;
    this.press = press;
  }
}
