/** The page of a file or a server: what stands in it is shown. */

import { makeElement } from "./controls/elements";
import { detectTheme, followSurroundings } from "./host/page_theme";
import { type LivePage, showServed } from "./live_page";
import { BlockError } from "./standalone/block";
import { findData } from "./standalone/stored";
import { type StaticPage, showFile } from "./static_page";

/** What stands in a page in place of a model that is not shown. */
interface RefusedPage {
  /** why */
  readonly refused: string;
}

async function readData(): Promise<StaticPage | LivePage | RefusedPage> {
  const text = await findData();
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === "object" && data !== null) {
      return data as StaticPage | LivePage | RefusedPage;
    }
  } catch {
    // told below
  }
  throw new BlockError("This file is damaged: it seems to have been cut short.");
}

async function begin(): Promise<void> {
  followSurroundings();
  try {
    const data = await readData();
    if ("refused" in data) throw new BlockError(data.refused);
    if ("live" in data) showServed(data);
    else showFile(data);
  } catch (error) {
    const message = makeElement("p", "nl-page-error");
    message.setAttribute("role", "alert");
    document.documentElement.dataset.theme = detectTheme();
    message.textContent = error instanceof Error ? error.message : String(error);
    const whole = makeElement("main", "");
    const heading = makeElement("h1", "nl-page-heading");
    heading.textContent = "This page cannot be shown";
    whole.append(heading, message);
    document.body.append(whole);
  }
}

void begin();
