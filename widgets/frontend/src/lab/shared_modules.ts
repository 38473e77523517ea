/**
 * What JupyterLab shares with extensions: packages by name and version, each loaded on request, as
 * webpack's module federation lays down (webpack.js.org/concepts/module-federation). JupyterLab
 * hands them to `init` of what an extension has put into `window._JUPYTERLAB`, and asks that for
 * the module with the extension's plugins. Nothing of JupyterLab is bundled here.
 */

interface SharedVersion {
  /** loads the package; what comes of it returns the module */
  get(): Promise<() => unknown> | (() => unknown);
  /** set once somebody has loaded it */
  readonly loaded?: unknown;
}

/** The versions of each package, by their numbers. */
export type SharedPackages = Record<string, Record<string, SharedVersion> | undefined>;

/** What JupyterLab asks an extension for. */
export interface Container {
  init(packages: SharedPackages): void;
  get(module: string): Promise<() => unknown>;
}

/** The version to take of a package: the one that is loaded, as there may be only one; else the newest. */
export function chooseVersion(versions: Record<string, SharedVersion>): SharedVersion | null {
  const names = Object.keys(versions).sort(compareVersions);
  const chosen = names.find((name) => versions[name].loaded) ?? names[names.length - 1];
  return chosen === undefined ? null : versions[chosen];
}

/** Load a package that JupyterLab shares; null where this JupyterLab has none of that name. */
export async function loadShared<Module>(
  packages: SharedPackages,
  name: string,
): Promise<Module | null> {
  const version = chooseVersion(packages[name] ?? {});
  if (!version) return null;
  return (await version.get())() as Module;
}

/** Load a package; throws Error where there is none. */
export async function needShared<Module>(packages: SharedPackages, name: string): Promise<Module> {
  const module = await loadShared<Module>(packages, name);
  if (module === null) {
    throw new Error(`netloupe needs ${name}, which this JupyterLab does not share.`);
  }
  return module;
}

/** Order versions as numbers; one before a release comes before it: 4.2.0-rc.1, 4.2.0, 4.10.0. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => {
    const [release, ...rest] = version.split("-");
    return { numbers: release.split(".").map(Number), isRelease: rest.length === 0 };
  });
  for (let k = 0; k < 3; k++) {
    const difference = (left.numbers[k] || 0) - (right.numbers[k] || 0);
    if (difference !== 0) return difference;
  }
  return Number(left.isRelease) - Number(right.isRelease);
}
