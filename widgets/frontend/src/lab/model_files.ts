/** The files that the explorer opens in JupyterLab, and their documents, which have no content. */

import type { DocRegistryModule, DocumentRegistry, FileType } from "./jupyterlab";

/** of the viewer, as "Open With" lists it */
export const VIEWER = "netloupe";
export const MODEL_FACTORY = "netloupe-file";

/** files that a double click shows in the explorer */
const ONNX = "netloupe-onnx";
const ONNX_TEXT = "netloupe-onnx-text";
const CAFFE2 = "netloupe-caffe2";
/** files that the editor opens, and the explorer on request */
const PROTOBUF_TEXT = "netloupe-protobuf-text";

export const DEFAULT_TYPES = [ONNX, ONNX_TEXT, CAFFE2];
export const OTHER_TYPES = [PROTOBUF_TEXT];

/** Register the types of files that netloupe reads. */
export function addFileTypes(registry: DocumentRegistry, icon: unknown): void {
  const binary = { fileFormat: "base64", contentType: "file", icon } as const;
  const text = { ...binary, fileFormat: "text" } as const;
  const types: FileType[] = [
    {
      ...binary,
      name: ONNX,
      displayName: "ONNX model",
      extensions: [".onnx", ".onnx.gz"],
      mimeTypes: ["application/x-onnx"],
    },
    {
      ...text,
      name: ONNX_TEXT,
      displayName: "ONNX model as text",
      extensions: [".onnxtxt", ".onnxtext"],
      mimeTypes: ["text/x-onnx"],
    },
    {
      ...binary,
      name: CAFFE2,
      displayName: "Caffe2 net",
      extensions: [".pb"],
      mimeTypes: ["application/x-protobuf"],
    },
    {
      ...text,
      name: PROTOBUF_TEXT,
      displayName: "Protobuf text",
      extensions: [".pbtxt", ".prototxt", ".textproto"],
      mimeTypes: ["text/x-protobuf"],
    },
  ];
  for (const type of types) registry.addFileType(type);
}

/**
 * What makes the documents of models. They have no content: without a format JupyterLab asks the
 * server for a file's name and times alone, and the bytes never leave the server.
 */
export function makeModelFactory({ DocumentModel }: DocRegistryModule): object {
  class ModelFile extends DocumentModel {
    /** Saving would put an empty file in place of the model. */
    override toString(): string {
      throw new Error("The explorer shows the model file and never changes it.");
    }
  }
  return {
    name: MODEL_FACTORY,
    contentType: "file",
    fileFormat: null,
    collaborative: false,
    isDisposed: false,
    dispose: () => undefined,
    preferredLanguage: () => "",
    createNew: () => {
      const made = new ModelFile({ collaborationEnabled: false });
      made.readOnly = true;
      return made;
    },
  };
}
