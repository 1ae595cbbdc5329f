import type { components } from '../../generated/api.ts';

/** A kind of messaging surface, as the contract shows it. */
export type ChannelType = components['schemas']['ChannelType'];

/**
 * Every channel type, in the order of the list. `configSchema` and `credentialsSchema` are JSON Schema (2020-12), and the configuration
 * of a connection is validated against them. A type without one of them accepts none through the API.
 */
export const CHANNEL_TYPES: readonly ChannelType[] = [
  {
    type: 'whatsapp',
    label: 'WhatsApp',
    description: 'A WhatsApp number, set up in the console.',
    supports: { configuration: false, credentials: false, instanceMode: true, test: false },
    configSchema: null,
    credentialsSchema: null,
  },
  {
    type: 'z_api',
    label: 'WhatsApp via Z-API',
    description: 'A WhatsApp number connected over Z-API.',
    supports: { configuration: true, credentials: true, instanceMode: true, test: false },
    configSchema: {
      type: 'object',
      required: ['instanceId'],
      properties: {
        instanceId: { type: 'string', description: 'Id of the instance at Z-API.', minLength: 1, maxLength: 100 },
      },
      additionalProperties: false,
    },
    credentialsSchema: {
      type: 'object',
      required: ['instanceToken', 'clientToken'],
      properties: {
        instanceToken: { type: 'string', description: 'Token of the instance.', minLength: 1, maxLength: 500 },
        clientToken: { type: 'string', description: 'Security token of the account.', minLength: 1, maxLength: 500 },
      },
      additionalProperties: false,
    },
  },
  {
    type: 'web_chat',
    label: 'Web chat',
    description: 'A chat page served by this service, to link to or embed.',
    supports: { configuration: true, credentials: false, instanceMode: true, test: false },
    configSchema: {
      type: 'object',
      properties: {
        title: { type: 'string', description: 'Title of the chat window.', maxLength: 100 },
        welcomeMessage: {
          type: 'string',
          description: 'First message, shown before the person writes.',
          maxLength: 1000,
        },
        primaryColor: { type: 'string', description: 'Colour of the chat window.', pattern: '^#[0-9a-fA-F]{6}$' },
        allowedOrigins: {
          type: 'array',
          description: 'Origins whose pages may embed the chat.',
          maxItems: 50,
          items: { type: 'string', maxLength: 255 },
        },
      },
      additionalProperties: false,
    },
    credentialsSchema: null,
  },
];

/** The channel type of this name, if there is one. */
export function findChannelType(name: string): ChannelType | undefined {
  return CHANNEL_TYPES.find(({ type }) => type === name);
}
