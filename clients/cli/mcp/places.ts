import { readdirSync, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';

/** Where this command runs: what decides the paths of the clients' files. */
export interface Places {
  homeFolder: string | undefined;
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  cwd: string;
}

/** `join` with the system's own separators, so that the rules for Windows can be tried elsewhere. */
export function joinPath({ platform }: Places, ...parts: string[]): string {
  return platform === 'win32' ? win32.join(...parts) : posix.join(...parts);
}

/** A path below the home folder; undefined when there is no home folder. */
export function atHome(places: Places, ...parts: string[]): string | undefined {
  return places.homeFolder ? joinPath(places, places.homeFolder, ...parts) : undefined;
}

/** A path below the folder that a variable names, when it is set and absolute; otherwise below the given path of the home folder. */
export function atVariable(places: Places, variable: string, home: string[], ...parts: string[]): string | undefined {
  const folder = places.env[variable];
  const absolute = folder && (places.platform === 'win32' ? win32.isAbsolute(folder) : posix.isAbsolute(folder));
  return absolute ? joinPath(places, folder, ...parts) : atHome(places, ...home, ...parts);
}

/**
 * Where programs keep their settings on this system: %APPDATA% on Windows, ~/Library/Application Support on macOS, $XDG_CONFIG_HOME or
 * ~/.config elsewhere. Electron's `appData`, which Claude Desktop and VS Code use: https://www.electronjs.org/docs/latest/api/app#appgetpathname
 */
export function atAppData(places: Places, ...parts: string[]): string | undefined {
  if (places.platform === 'darwin') return atHome(places, 'Library', 'Application Support', ...parts);
  if (places.platform === 'win32') return atVariable(places, 'APPDATA', ['AppData', 'Roaming'], ...parts);
  return atVariable(places, 'XDG_CONFIG_HOME', ['.config'], ...parts);
}

/** Whether there is a file or folder that this user may see. */
export function isThere(path: string | undefined): boolean {
  try {
    return path !== undefined && statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** The folder's entries whose names begin so; none when it cannot be read. */
export function namesIn(folder: string | undefined, prefix: string): string[] {
  try {
    return folder
      ? readdirSync(folder)
          .filter((name) => name.startsWith(prefix))
          .sort()
      : [];
  } catch {
    return [];
  }
}
