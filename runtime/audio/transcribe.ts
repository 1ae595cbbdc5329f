import { APICallError } from '@ai-sdk/provider';
import { fault } from '../../core/errors.ts';
import { cutText, toStorable } from '../../core/text.ts';
import type { StoredAttachment } from '../../db/stored/attachment.ts';
import { type ResolvedAttachment, toStored } from '../files/attachments.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { modelFault } from '../models/errors.ts';
import { withRetries } from '../models/retry.ts';
import type { AudioModelName, ModelSettings } from '../models/settings.ts';
import { audioModelName, audioModels } from './models.ts';

/** Characters kept of what is said in one recording: as many as a message may have that is written. */
const LONGEST_TRANSCRIPT = 32_000;
/** Providers say so of a file that they cannot read; their own troubles have other codes. */
const REFUSED_FILE = new Set([400, 413, 415, 422]);

/** For whom a recording is heard. */
export interface HearingContext {
  /** The agent's own model: its provider is asked first. */
  model: Pick<ModelDescriptor, 'provider'> | undefined;
  signal?: AbortSignal | undefined;
}

/** A recording. */
export type Recording = Pick<ResolvedAttachment, 'bytes' | 'mediaType' | 'filename'>;

/**
 * What is said in a recording; empty when nothing is. Throws UNSUPPORTED_ATTACHMENT when no configured provider transcribes, or the
 * provider cannot read the file; MODEL_PROVIDER_ERROR (a sentence for people, without secrets); or the signal's own reason.
 */
export async function transcribe(
  settings: ModelSettings,
  audio: Recording,
  { model, signal }: HearingContext,
): Promise<string> {
  signal?.throwIfAborted();
  const name = audioModelName(settings, 'transcription', model);
  if (!name) {
    throw fault(
      'UNSUPPORTED_ATTACHMENT',
      `${audio.filename} is audio, and no model provider that is configured here can transcribe it. Send the message as text.`,
    );
  }
  try {
    const hearing = (await audioModels(settings, name.provider)).transcription(name.modelId);
    const options = {
      audio: audio.bytes,
      mediaType: audio.mediaType,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    };
    const { text } = await withRetries(async () => hearing.doGenerate(options), {
      retries: settings.retries,
      begun: () => false,
      abortSignal: signal,
    });
    return clean(text);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw faultOf(error, settings, name, audio);
  }
}

/** As PostgreSQL can keep it, and of bounded length. */
function clean(text: string): string {
  const said = toStorable(text).trim();
  return said.length <= LONGEST_TRANSCRIPT ? said : `${cutText(said, LONGEST_TRANSCRIPT)} [cut off]`;
}

function faultOf(error: unknown, settings: ModelSettings, model: AudioModelName, audio: Recording) {
  const failure = modelFault(error, { settings, model, said: [] });
  // Whose file it is hears of it; the provider is well.
  const isFile =
    APICallError.isInstance(error) &&
    REFUSED_FILE.has(error.statusCode ?? 0) &&
    /\b(audio|file|format|codec|duration)\b/i.test(error.message);
  return isFile
    ? fault('UNSUPPORTED_ATTACHMENT', `${audio.filename} cannot be transcribed. ${failure.message}`)
    : failure;
}

/** The attachments of a message when its recordings have been heard. */
export interface Heard {
  /** What is left for the model to see. */
  attachments: ResolvedAttachment[];
  /** All of them, as they are stored: those that were heard with their transcript. */
  stored: StoredAttachment[];
  /** What the recordings say, in their order, for the model to read; null when there are none. */
  text: string | null;
}

/**
 * Hears the recordings among the attachments of a message, side by side. Throws as `transcribe` does; then the others are given up.
 */
export async function transcribeAttachments(
  settings: ModelSettings,
  attachments: readonly ResolvedAttachment[],
  context: HearingContext,
): Promise<Heard> {
  const failed = new AbortController();
  const signal = context.signal ? AbortSignal.any([context.signal, failed.signal]) : failed.signal;
  const hear = async (one: ResolvedAttachment) =>
    one.kind === 'audio' ? await transcribe(settings, one, { ...context, signal }) : null;
  const transcripts = await Promise.all(attachments.map(hear)).catch((error: unknown) => {
    failed.abort();
    throw error;
  });
  const heard = transcripts.filter((transcript) => transcript !== null);
  const stored = toStored(attachments).map((one, index) => {
    const transcript = transcripts[index] ?? null;
    return transcript === null ? one : { ...one, transcript };
  });
  return {
    attachments: attachments.filter(({ kind }) => kind !== 'audio'),
    stored,
    text: heard.length === 0 ? null : heard.map(voiceMessage).join('\n\n'),
  };
}

function voiceMessage(transcript: string): string {
  return `[Voice message] ${transcript === '' ? '(nothing that can be understood)' : transcript}`;
}
