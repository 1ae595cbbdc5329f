import { type ApiError, fault } from '../../core/errors.ts';
import { shorten } from '../../core/text.ts';

const MAX_SHOWN = 81;

/** The error for an upload that is no skill: `reason` is one sentence about what is wrong with it. */
export function badSkill(reason: string, cause?: unknown): ApiError {
  return fault('INVALID_SKILL_ZIP', reason, cause === undefined ? {} : { cause });
}

/** Text of the upload as a message shows it: quoted, control characters escaped, cut. */
export function shown(text: string): string {
  return JSON.stringify(shorten(text, MAX_SHOWN));
}

/** A count of bytes as a message shows it. */
export function megabytes(bytes: number): string {
  return `${bytes / 1_048_576} MiB`;
}
