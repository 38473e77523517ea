/**
 * The messages between a canvas and what is behind it: requests go out, replies come in. They
 * have the same names and fields in explorer/session/messages.py.
 */

import type { Details, Expand, Grouping, Share, ThemeName } from "../scene/options";
import type { Paths, PlacesByPath } from "../scene/scene";

/** What a canvas asks for. Every request goes out with an `id`, which its reply brings back. */
export type Request = Asked & {
  /** the user has been asked and wants it although it takes long */
  sure?: boolean;
};

type Asked =
  /** `window`: width and height of the canvas in CSS pixels, where it has any */
  | { type: "scene"; window?: [number, number] }
  /** the first picture is painted, so that other work may begin; no answer is waited for */
  | { type: "painted"; window?: [number, number] }
  | { type: "toggle" | "open" | "close"; path: string }
  | { type: "enter" | "reveal"; path: string }
  | { type: "expand"; mode: Expand }
  | { type: "wrap"; wrap: boolean }
  | { type: "details"; details: Details }
  | { type: "share"; share: Share }
  /** `overlay`: the number of a column, -1 for none */
  | { type: "overlay"; overlay: number }
  | { type: "group"; grouping: Grouping }
  | { type: "focus"; path: string; hops: number }
  | { type: "shown"; path: string; index: number }
  | { type: "unroll" | "fold" | "unname"; path: string }
  | { type: "search"; text: string; regex: boolean }
  | { type: "legend" | "command"; theme: ThemeName }
  /** `part`: left, top, width and height of what is seen of the scene; without it all is drawn */
  | { type: "picture"; format: PictureFormat; theme: ThemeName; part?: [number, number, number, number] }
  | { type: "undo" | "redo" | "unfocus" | "reload" }
  /** `target`: the request to give up; without one whatever is under way */
  | { type: "cancel"; target?: string };

/** What pictures are saved as. */
export type PictureFormat = "svg" | "png" | "pdf" | "html";

/** A request for a picture as a file. */
export type PictureRequest = Extract<Request, { type: "picture" }>;

/** A request for another scene. */
export type SceneRequest = Exclude<
  Request,
  { type: "search" | "legend" | "command" | "picture" | "painted" | "cancel" }
>;

/**
 * What a host may be able to do, each with the requests that it then answers. Beside these every
 * host answers `scene`. A canvas offers what its host can do.
 */
export const ABILITIES = {
  /** something waits for the first picture: what else is said of a model, and its review */
  begin: ["painted"],
  /** boxes are opened and closed where they stand */
  open: ["toggle", "open", "close"],
  /** all groups at once are opened, closed or opened as at first */
  expand: ["expand"],
  /** the graph of a body is shown by itself, and the one that it hangs in */
  enter: ["enter"],
  /** elements are found by words and shown, with all opened that hides them */
  search: ["search", "reveal"],
  /** words of a search may be a regular expression */
  regex: [],
  /** only the neighbourhood of an element is shown, wider or narrower, and all again */
  focus: ["focus", "unfocus"],
  /** another repetition of a repeat is shown */
  step: ["shown"],
  /** all repetitions of a repeat are shown beside each other, and one for all again */
  unroll: ["unroll", "fold"],
  /** a group is not told any more what it is */
  unname: ["unname"],
  /** nodes are grouped otherwise */
  group: ["group"],
  /** the graph is laid out anew when the trait of that name changes */
  direction: [],
  /** long pictures are cut into columns */
  wrap: ["wrap"],
  /** more or less stands on the boxes of nodes */
  details: ["details"],
  /** bars on boxes show their share of something else */
  share: ["share"],
  /** boxes are coloured by another column, or by none */
  overlay: ["overlay"],
  /** colours and signs of the picture are explained */
  legend: ["legend"],
  /** pictures are written as files; the canvas itself draws SVG and PNG */
  picture: ["picture"],
  /** it is known which command draws what is shown */
  command: ["command"],
  /** what was changed is taken back and done again */
  undo: ["undo", "redo"],
  /** the model is read anew from its files */
  reload: ["reload"],
  /** what takes long can be stopped */
  cancel: ["cancel"],
} as const satisfies Record<string, ReadonlyArray<Request["type"]>>;

export type Ability = keyof typeof ABILITIES;

export const ALL_ABILITIES = Object.keys(ABILITIES) as Ability[];

/** What comes in: a reply with the id of its request, or a push without one. */
export type Message =
  | SceneMessage
  | HitsMessage
  | LegendMessage
  | FileMessage
  | CommandMessage
  | ConfirmMessage
  | ErrorMessage
  | BusyMessage
  | IdleMessage;

/** A scene, whose numbers and names are in the buffers that come with it. */
export interface SceneMessage {
  readonly type: "scene";
  /** as explorer/render/wire.py writes it */
  readonly header: unknown;
  /** what is selected from now on */
  readonly select?: Paths;
  /** what is brought into the middle of the window */
  readonly center?: Paths;
  /** path of the box that stays where it is on the screen */
  readonly anchor?: string;
  /** the scene is shown as when it is first opened */
  readonly fit?: boolean;
  /** the window goes where it was when this moment was left */
  readonly restore?: boolean;
  readonly history?: HistoryState;
  /** by path of what is selected the keys of the boxes that show or hide it */
  readonly places?: PlacesByPath;
}

/** The first scene, where it is made unasked; nothing in it where it has to be asked for. */
export interface FirstScene {
  /** whether it is being made */
  readonly coming?: boolean;
  readonly message?: SceneMessage;
  /** those that belong to the message */
  readonly buffers?: ArrayBufferView[];
}

/** What a search has found. */
export interface HitsMessage {
  readonly type: "hits";
  readonly hits: SearchHit[];
  /** how many there are; not all of them are listed */
  readonly total: number;
}

/** What the colours and signs of the picture mean. */
export interface LegendMessage {
  readonly type: "legend";
  readonly entries: LegendEntry[];
}

/** A picture as a file, whose bytes are in the buffer that comes with it. */
export interface FileMessage {
  readonly type: "file";
  /** what is to be said of it */
  readonly notices: string[];
}

/** The command that draws what is shown. */
export interface CommandMessage {
  readonly type: "command";
  readonly text: string;
  /** what the command does not say of the picture, in words; nothing where it draws the same */
  readonly left: string[];
}

/** What was asked for takes long: ask the user, then ask again with `sure`. */
export interface ConfirmMessage {
  readonly type: "confirm";
  readonly message: string;
}

export interface ErrorMessage {
  readonly type: "error";
  readonly message: string;
  /** the user has stopped the request */
  readonly cancelled?: boolean;
}

/** A request is being worked on; `share` of it is done, 0 to 1, or null where that is not known. */
export interface BusyMessage {
  readonly type: "busy";
  readonly message: string;
  readonly share: number | null;
  /** whether it can be cancelled; left out where it can */
  readonly stoppable?: boolean;
}

/** Nothing is worked on any more. */
export interface IdleMessage {
  readonly type: "idle";
}

/** What one colour or sign of the picture means. */
export interface LegendEntry {
  readonly text: string;
  /** a small picture of it, "" for words alone */
  readonly svg: string;
  /** whether it explains what boxes are coloured by */
  readonly overlay?: boolean;
}

export interface SearchHit {
  readonly path: string;
  readonly title: string;
  readonly detail: string;
  readonly kind: string;
  /** path of the drawn box that is it or hides it */
  readonly shown: string | null;
}

/** Which moment a scene shows, and whether one can go back and forth from it. */
export interface HistoryState {
  readonly moment: number;
  readonly undo: boolean;
  readonly redo: boolean;
}

/** What a link in a description asks for: an element, or more rows of a section. */
export type DescriptionRequest = { follow: string } | { more: number };
