import { API_VERSION } from '../../generated/calls.ts';

/** The version of this server, which is that of the document. */
export const VERSION: string = API_VERSION;
