import type { Clock } from '../../core/clock.ts';
import type { ChannelProvider } from './provider.ts';
import type { ChannelSettings } from './settings.ts';
import { WhatsappProvider } from './whatsapp/whatsapp.ts';
import { ZApiProvider } from './zApi/zApi.ts';

/** The settings, and whether providers may be in private networks. */
export interface ChannelOptions extends ChannelSettings {
  allowPrivateNetwork: boolean;
  /** Times in payloads are held against it. */
  clock: Clock;
}

/** What makes the provider of each channel type that has one. */
const MAKERS: Readonly<Record<string, (options: ChannelOptions) => ChannelProvider>> = {
  whatsapp: (options) => new WhatsappProvider(options),
  z_api: (options) => new ZApiProvider(options),
};

const made = new WeakMap<ChannelOptions, Map<string, ChannelProvider>>();

/**
 * The provider of a channel type, the same one for the same options; undefined for a type without one, as the web chat is: this service
 * serves it itself.
 */
export function providerOf(type: string, options: ChannelOptions): ChannelProvider | undefined {
  const make = Object.hasOwn(MAKERS, type) ? MAKERS[type] : undefined;
  if (!make) return undefined;
  const providers = made.get(options) ?? new Map<string, ChannelProvider>();
  made.set(options, providers);
  const provider = providers.get(type) ?? make(options);
  providers.set(type, provider);
  return provider;
}
