import type { ModelSettings } from './settings.ts';

const known = new WeakMap<ModelSettings, KnownWindows>();

/** The windows of a compatible server's models, as the server told them last. */
export class KnownWindows {
  #windows: ReadonlyMap<string, number> = new Map();
  /** Rises whenever a window has changed. */
  version = 0;

  /** Those of the server of these settings. */
  static of(settings: ModelSettings): KnownWindows {
    const here = known.get(settings) ?? new KnownWindows();
    known.set(settings, here);
    return here;
  }

  /** Keeps what the server told. A model of which it tells nothing now keeps what it told before. */
  keep(told: ReadonlyMap<string, number>): void {
    const merged = new Map([...this.#windows, ...told]);
    if ([...merged].some(([id, tokens]) => this.#windows.get(id) !== tokens)) this.version += 1;
    this.#windows = merged;
  }

  tokensOf(modelId: string): number | undefined {
    return this.#windows.get(modelId);
  }
}
