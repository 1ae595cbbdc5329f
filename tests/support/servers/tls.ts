import tls from 'node:tls';
import { generate } from 'selfsigned';

/** A certificate for 127.0.0.1, localhost and every name right under example.com, with its key; PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

/** Makes a certificate that this process trusts from now on, as it does a public one. `forget` ends the trust. */
export async function trustedCertificate(): Promise<Certificate & { forget(): void }> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'Guildhall tests' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 7, ip: '127.0.0.1' },
          { type: 2, value: 'localhost' },
          { type: 2, value: '*.example.com' },
        ],
      },
    ],
  });
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, cert]);
  return { key, cert, forget: () => tls.setDefaultCACertificates(before) };
}
