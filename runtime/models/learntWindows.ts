import type { LRUCache } from 'lru-cache';
import { lruCache } from '../../core/lruCache.ts';
import type { ModelDescriptor } from './catalogue.ts';
import type { ModelSettings } from './settings.ts';

/** A server may be started anew with another window, and a mistake must heal. */
const LEARNT_FOR_MS = 3_600_000;
/** Workspaces name models of their own, so the number of ids has no natural maximum. */
const MAX_LEARNT = 10_000;

type Learnt = { tokens: number; until: number };

const learnt = new WeakMap<ModelSettings, LRUCache<string, Learnt>>();

/** Whose requests the windows are learnt from, and for. */
export interface LearningWorkspace {
  models: ModelSettings;
  workspaceId: string;
  now: Date;
}

/** By workspace: what one sends, and how it describes a model, must not change what another's agents are told. */
const keyOf = (workspaceId: string, { provider, modelId }: ModelDescriptor): string =>
  `${workspaceId}/${provider}/${modelId}`;

/** Notes for an hour, in this process, that requests to a model with more tokens were refused, and one with as many was answered. */
export function learnWindow(
  { models, workspaceId, now }: LearningWorkspace,
  model: ModelDescriptor,
  tokens: number,
): void {
  const here = learnt.get(models) ?? lruCache<string, Learnt>(MAX_LEARNT);
  learnt.set(models, here);
  here.set(keyOf(workspaceId, model), { tokens, until: now.getTime() + LEARNT_FOR_MS });
}

/** The model with the window that it turned out to have, if it is smaller than the one that it should have. */
export function withLearntWindow<Model extends ModelDescriptor | undefined>(
  { models, workspaceId, now }: LearningWorkspace,
  model: Model,
): Model {
  const known = model && learnt.get(models)?.get(keyOf(workspaceId, model));
  if (!known || known.until <= now.getTime() || known.tokens >= model.contextWindow) return model;
  return { ...model, contextWindow: known.tokens };
}
