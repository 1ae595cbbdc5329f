import type { components } from '../../generated/api.ts';

/** A kind of messaging surface, as the contract shows it. */
export type ChannelType = components['schemas']['ChannelType'];

/** Instance and token are steps of Z-API's addresses: neither a slash nor `..` may be one. */
const PATH_STEP = '^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$';
/** Visible ASCII characters: what a header may carry. */
const HEADER_VALUE = '^[!-~]+$';
/** An origin as browsers send it (RFC 6454, 6.2): it becomes a part of the page's Content-Security-Policy. */
const ORIGIN = '^https?://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\\[[0-9a-f:]+\\])(:[0-9]{1,5})?$';

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
        instanceId: {
          type: 'string',
          description: 'Id of the instance at Z-API.',
          minLength: 1,
          maxLength: 100,
          pattern: PATH_STEP,
        },
      },
      additionalProperties: false,
    },
    credentialsSchema: {
      type: 'object',
      required: ['instanceToken', 'clientToken'],
      properties: {
        instanceToken: {
          type: 'string',
          description: 'Token of the instance.',
          minLength: 1,
          maxLength: 500,
          pattern: PATH_STEP,
        },
        clientToken: {
          type: 'string',
          description: 'Security token of the account.',
          minLength: 1,
          maxLength: 500,
          pattern: HEADER_VALUE,
        },
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
          items: { type: 'string', maxLength: 255, pattern: ORIGIN },
        },
      },
      additionalProperties: false,
    },
    credentialsSchema: null,
  },
];

/** The schemas of a connection's configuration and credentials. */
export interface ConnectionSchemas {
  configSchema: Record<string, unknown> | null;
  credentialsSchema: Record<string, unknown> | null;
}

/** What the operator sets for `whatsapp`, which cannot be set through the API. */
const WHATSAPP_SCHEMAS: ConnectionSchemas = {
  configSchema: {
    type: 'object',
    required: ['phoneNumberId'],
    properties: {
      phoneNumberId: { type: 'string', pattern: '^[0-9]{1,30}$' },
      businessAccountId: { type: 'string', pattern: '^[0-9]{1,30}$' },
      templateName: { type: 'string', pattern: '^[a-z0-9_]{1,512}$' },
      templateLanguage: { type: 'string', pattern: '^[a-z]{2,3}(_[A-Za-z]{2,4})?$' },
    },
    additionalProperties: false,
  },
  credentialsSchema: {
    type: 'object',
    required: ['accessToken', 'appSecret', 'verifyToken'],
    properties: {
      accessToken: { type: 'string', minLength: 1, maxLength: 2000, pattern: HEADER_VALUE },
      // Who knows these two can send events and take over the address: they must not be guessed.
      appSecret: { type: 'string', minLength: 16, maxLength: 200, pattern: HEADER_VALUE },
      verifyToken: { type: 'string', minLength: 16, maxLength: 200, pattern: HEADER_VALUE },
    },
    additionalProperties: false,
  },
};

/** The schemas of a connection of this type as the operator sets it: those of the API, and those of `whatsapp`. */
export function operatorSchemasOf(type: ChannelType): ConnectionSchemas {
  return type.type === 'whatsapp' ? WHATSAPP_SCHEMAS : type;
}

/** The channel type of this name, if there is one. */
export function findChannelType(name: string): ChannelType | undefined {
  return CHANNEL_TYPES.find(({ type }) => type === name);
}
