/** The page on which a model is chosen: netloupe/live/start_page.py writes it. */

import { type DropWords, addressOfModel, askToOpen, findAddress, sendFile, takeDrops } from "./live/dropping";

function find<Kind extends HTMLElement>(selector: string): Kind | null {
  return document.querySelector<Kind>(selector);
}

const problem = find(".nl-problem");

function tell(message: string): void {
  if (!problem) return;
  problem.textContent = message;
  problem.hidden = message === "";
}

const words: DropWords = {
  over: (is) => document.body.classList.toggle("nl-over", is),
  sending: (name, share) => {
    const line = find(".nl-progress");
    if (!line) return;
    line.hidden = share === null;
    line.textContent = share === null ? "" : `Sending ${name}: ${Math.round(share * 100)} %`;
    if (share === 0) tell("");
  },
  problem: tell,
};

async function openPath(path: string): Promise<void> {
  tell("");
  try {
    location.assign(addressOfModel(await askToOpen(findAddress("open"), JSON.stringify({ path }))));
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
  }
}

const data = JSON.parse(find("#nl-data")?.textContent ?? "{}") as { most_dropped: number | null };
const most = data.most_dropped;
if (most !== null) {
  takeDrops(most, words);
  const input = find<HTMLInputElement>(".nl-file");
  input?.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void sendFile(file, most, words);
    input.value = "";
  });
}
for (const link of document.querySelectorAll<HTMLAnchorElement>("[data-model]")) {
  link.href = addressOfModel(Number(link.dataset.model));
}
find<HTMLFormElement>(".nl-path")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const path = find<HTMLInputElement>("#nl-path")?.value.trim() ?? "";
  if (path) void openPath(path);
  else tell("Type the path of a model file.");
});
for (const button of document.querySelectorAll<HTMLButtonElement>(".nl-recent")) {
  button.addEventListener("click", () => void openPath(button.dataset.path ?? ""));
}
const forget = find<HTMLButtonElement>(".nl-forget");
forget?.addEventListener("click", () => {
  void fetch(findAddress("forget"), { method: "POST" }).then(
    ({ ok }) => (ok ? forget.closest("section")?.remove() : tell("They cannot be forgotten.")),
    () => tell("netloupe does not answer. It may have ended."),
  );
});
// a page that is come back to lists what was opened since
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
// what has been read meanwhile is said, unless somebody is typing
addEventListener("visibilitychange", () => {
  const typed = find<HTMLInputElement>("#nl-path")?.value ?? "";
  if (document.visibilityState === "visible" && typed === "" && problem?.hidden) location.reload();
});
