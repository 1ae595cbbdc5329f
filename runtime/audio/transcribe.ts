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

/** Characters of one transcript: as many as a written message may have. */
const MAX_TRANSCRIPT = 32_000;
/** Statuses with which providers refuse a file that they cannot read. Their own failures have other statuses. */
const FILE_REFUSALS = new Set([400, 413, 415, 422]);

/** For which agent recordings are transcribed, and how long. */
export interface TranscriptionContext {
  /** The agent's own model: its provider is preferred. */
  model: Pick<ModelDescriptor, 'provider'> | undefined;
  signal?: AbortSignal | undefined;
}

/** A recording. */
export type Recording = Pick<ResolvedAttachment, 'bytes' | 'mediaType' | 'filename'>;

/**
 * Returns the transcript of a recording; empty when nobody speaks in it. Throws UNSUPPORTED_ATTACHMENT when no configured provider
 * transcribes or the provider cannot read the file; MODEL_PROVIDER_ERROR, whose message is for people and has no secrets; or the
 * signal's own reason.
 */
export async function transcribe(
  settings: ModelSettings,
  audio: Recording,
  { model, signal }: TranscriptionContext,
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
    const transcriptionModel = (await audioModels(settings, name.provider)).transcription(name.modelId);
    const options = {
      audio: audio.bytes,
      mediaType: audio.mediaType,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    };
    const { text } = await withRetries(async () => transcriptionModel.doGenerate(options), {
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

/** The text as PostgreSQL can store it, cut to the maximum length. */
function clean(text: string): string {
  const transcript = toStorable(text).trim();
  return transcript.length <= MAX_TRANSCRIPT ? transcript : `${cutText(transcript, MAX_TRANSCRIPT)} [cut off]`;
}

function faultOf(error: unknown, settings: ModelSettings, model: AudioModelName, audio: Recording) {
  const failure = modelFault(error, { settings, model, said: [] });
  // Such a status blames the file only when the message speaks of it: the provider also refuses wrong models and parameters.
  const isAboutFile =
    APICallError.isInstance(error) &&
    FILE_REFUSALS.has(error.statusCode ?? 0) &&
    /\b(audio|file|format|codec|duration)\b/i.test(error.message);
  return isAboutFile
    ? fault('UNSUPPORTED_ATTACHMENT', `${audio.filename} cannot be transcribed. ${failure.message}`)
    : failure;
}

/** The attachments of a message after its recordings were transcribed. */
export interface TranscribedAttachments {
  /** The attachments that the model gets: all but the recordings. */
  attachments: ResolvedAttachment[];
  /** All attachments as they are stored: recordings with their transcript. */
  stored: StoredAttachment[];
  /** The transcripts in the order of the recordings, for the model to read; null when there are none. */
  text: string | null;
}

/** Transcribes the recordings of a message concurrently. Throws as `transcribe` does, and then cancels the other requests. */
export async function transcribeAttachments(
  settings: ModelSettings,
  attachments: readonly ResolvedAttachment[],
  context: TranscriptionContext,
): Promise<TranscribedAttachments> {
  const failed = new AbortController();
  const signal = context.signal ? AbortSignal.any([context.signal, failed.signal]) : failed.signal;
  const transcriptOf = async (one: ResolvedAttachment) =>
    one.kind === 'audio' ? await transcribe(settings, one, { ...context, signal }) : null;
  const transcripts = await Promise.all(attachments.map(transcriptOf)).catch((error: unknown) => {
    failed.abort();
    throw error;
  });
  const spoken = transcripts.filter((transcript) => transcript !== null);
  const stored = toStored(attachments).map((one, index) => {
    const transcript = transcripts[index] ?? null;
    return transcript === null ? one : { ...one, transcript };
  });
  return {
    attachments: attachments.filter(({ kind }) => kind !== 'audio'),
    stored,
    text: spoken.length === 0 ? null : spoken.map(voiceMessage).join('\n\n'),
  };
}

function voiceMessage(transcript: string): string {
  return `[Voice message] ${transcript === '' ? '(nothing that can be understood)' : transcript}`;
}
