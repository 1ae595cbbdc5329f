import { spawn } from 'node:child_process';

/** A program that opens an address in the user's browser. */
export interface Opener {
  command: string;
  args: string[];
}

/**
 * The opener of the system; undefined where no browser could show itself, as over SSH or in a container. The address is an argument and
 * never part of a shell's command.
 */
export function openerOf(
  platform: NodeJS.Platform,
  env: Record<string, string | undefined>,
  address: string,
): Opener | undefined {
  if (platform === 'darwin') return { command: 'open', args: [address] };
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', address] };
  if (env.WSL_DISTRO_NAME) return { command: 'wslview', args: [address] };
  if (env.BROWSER || env.DISPLAY || env.WAYLAND_DISPLAY) return { command: 'xdg-open', args: [address] };
  return undefined;
}

/** Starts the opener and does not wait for the browser. Answers whether it could be started. */
export async function start({ command, args }: Opener, env: Record<string, string | undefined>): Promise<boolean> {
  return await new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true, env: env as NodeJS.ProcessEnv });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
