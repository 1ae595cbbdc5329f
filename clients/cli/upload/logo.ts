import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import type { components } from '../../../generated/api.ts';
import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { MAX_LOGO_BYTES } from './limits.ts';
import { localFile, unreadable } from './localFiles.ts';
import { inPieces, showProgress } from './progress.ts';

type LogoType = components['schemas']['HubLogoType'];

/** Every type of the document: the compiler notices one that is missing or unknown. */
export const LOGO_TYPES = Object.keys({
  horizontal: true,
  icon: true,
  email: true,
  banner: true,
} satisfies Record<LogoType, true>) as LogoType[];

/** `hub upload-logo`: one picture, as one of the hub's logos. */
export const register: Register = (command, context) => {
  command
    .argument('<file>', 'PNG, JPEG, WebP or SVG, at most 5 MiB')
    .addOption(new Option('--type <type>', 'which logo').choices(LOGO_TYPES).makeOptionMandatory())
    .addHelpText('after', examples(['guildhall hub upload-logo logo.svg --type horizontal']))
    .action(async (file: string, options: { type: LogoType }) => upload(context(), file, options.type));
};

async function upload(context: Context, shown: string, type: LogoType): Promise<void> {
  const file = await localFile(shown, context.io, MAX_LOGO_BYTES);
  const data = await readFile(file.path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(shown, error);
  });
  const api = await context.api();
  const progress = showProgress(context.io, file.name, data.length);
  let sent = false;
  try {
    const hub = await api.call('uploadHubLogo', { path: { type }, file: { data: inPieces(data), name: file.name } });
    sent = true;
    progress.end(true);
    await context.print(hub);
  } finally {
    if (!sent) progress.end(false);
  }
}
