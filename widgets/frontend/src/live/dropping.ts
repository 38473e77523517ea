/** Files that are dropped on a page of a server: sent to it, and then shown. */

/** The address of something of the server, seen from the page, with the token of the page. */
export function findAddress(name: string, more: Record<string, string> = {}): string {
  const address = new URL(name, document.baseURI);
  const token = new URLSearchParams(location.search).get("token");
  address.search = new URLSearchParams({ ...(token !== null && { token }), ...more }).toString();
  return address.href;
}

/** The address of the page of a model. */
export function addressOfModel(number: number): string {
  return findAddress("./", { model: String(number) });
}

/**
 * Ask the server to open something.
 *
 * @returns the number of the model
 * @throws Error with what is wrong, for the user
 */
export function askToOpen(
  address: string,
  body: XMLHttpRequestBodyInit,
  sent: (share: number) => void = () => undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.upload.onprogress = ({ loaded, total }) => sent(total > 0 ? loaded / total : 1);
    request.onerror = () => reject(new Error("netloupe does not answer. It may have ended."));
    request.onload = () => {
      try {
        if (request.status !== 200) throw new Error(request.responseText.trim().slice(0, 1_000));
        const { model } = JSON.parse(request.responseText) as { model: unknown };
        if (typeof model !== "number") throw new Error("netloupe has answered something else.");
        resolve(model);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    request.send(body);
  });
}

/** What is said of files that are dropped. */
export interface DropWords {
  /** a file is held over the page, or not any more */
  over(is: boolean): void;
  /** how much of a file is sent, from 0 to 1; null where nothing is sent */
  sending(name: string, share: number | null): void;
  problem(message: string): void;
}

/** Send a file and show it in place of this page. */
export async function sendFile(file: File, most: number, words: DropWords): Promise<void> {
  if (file.size > most) {
    const limit = most.toLocaleString("en");
    words.problem(
      `${file.name} is larger than ${limit} bytes, the most that is taken. Run netloupe open with its path.`,
    );
    return;
  }
  words.sending(file.name, 0);
  try {
    const address = findAddress("drop", { name: file.name });
    const number = await askToOpen(address, file, (share) => words.sending(file.name, share));
    location.assign(addressOfModel(number));
  } catch (error) {
    words.sending(file.name, null);
    words.problem(`${file.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Take files that are dropped anywhere on the page. */
export function takeDrops(most: number, words: DropWords): void {
  let depth = 0;
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    depth += 1;
    words.over(true);
  });
  addEventListener("dragleave", (event) => {
    if (!hasFiles(event)) return;
    depth = Math.max(0, depth - 1);
    if (depth === 0) words.over(false);
  });
  addEventListener("dragover", (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    words.over(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 1) void sendFile(files[0], most, words);
    else words.problem("Drop one model file at a time, and no folder.");
  });
}
