import { basename } from 'node:path';
import type { OperationCommand } from '../../../generated/commandTable.ts';
import type { AnyInput } from '../../sdk/index.ts';
import { usage } from '../failure.ts';
import { readFileOf } from '../input.ts';
import type { Io } from '../io.ts';
import { type Given, valuesOf } from './values.ts';

/**
 * The parts of an upload: the file under its own name, and its metadata where the operation takes some.
 * @throws Failure (2) when there is no file, it cannot be read, or a flag belongs to the other kind of body
 */
export async function uploadOf(
  io: Io,
  row: OperationCommand,
  given: Given,
  nulls: ReadonlySet<string>,
): Promise<Pick<AnyInput, 'file' | 'metadata'>> {
  const path = given.file as string | undefined;
  if (path === undefined) throw usage('Needed: --file.', 'Add --help to see what it takes.');
  const fields = row.metadata ?? [];
  const others = row.fields.filter(({ flag }) => fields.every((each) => each.flag !== flag));
  const wrong = Object.keys(valuesOf(others, given, nulls));
  if (wrong.length > 0 || given.body !== undefined)
    throw usage(
      `--file cannot be combined with ${given.body !== undefined ? '--body' : `--${others.find(({ name }) => name === wrong[0])?.flag}`}.`,
    );
  const metadata = valuesOf(fields, given, nulls);
  const bytes = await readFileOf(io, path);
  return {
    file: { data: new Uint8Array(bytes), name: basename(path) },
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}
