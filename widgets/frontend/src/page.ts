/** The page of a file or a server: what stands in it is shown. */

import { makeElement } from "./controls/elements";
import { type LivePage, showServed } from "./live_page";
import { BlockError } from "./standalone/block";
import { findData } from "./standalone/stored";
import { type StaticPage, showFile } from "./static_page";

async function readData(): Promise<StaticPage | LivePage> {
  const text = await findData();
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === "object" && data !== null) return data as StaticPage | LivePage;
  } catch {
    // told below
  }
  throw new BlockError("This file is damaged: it seems to have been cut short.");
}

async function begin(): Promise<void> {
  try {
    const data = await readData();
    if ("live" in data) showServed(data);
    else showFile(data);
  } catch (error) {
    const message = makeElement("p", "nl-page-error");
    message.setAttribute("role", "alert");
    message.textContent = error instanceof Error ? error.message : String(error);
    document.body.append(message);
  }
}

void begin();
