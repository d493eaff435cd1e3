/** Each release of the models, its defaults, and how many models it has. */
export const releaseDefaults: readonly (readonly [release: string, phone: string, digital: string, models: number])[] =
  [
    ['2025.03.r1p0', 'phone/v1.1', 'digital/v1.1', 2],
    ['2025.04.r1p0', 'phone/v3', 'digital/v1.1', 3],
    ['2025.08.r1', 'phone/v3', 'digital/v3', 4],
    ['2025.11.r1p0', 'phone/v5', 'digital/v3', 5],
    ['2026.02.r1p0', 'phone/v6', 'digital/v3', 6],
    ['2026.03.r1p0', 'phone/v7', 'digital/v3', 7],
    ['2026.04.r1p0', 'phone/v8', 'digital/v3', 8],
    ['2026.11.r1p0', 'phone/v8.1', 'digital/v3.1', 10],
    ['2026.11.r2p0', 'phone/v8.1', 'digital/v3.2', 11],
    ['2026.11.r3p0', 'phone/v8.2', 'digital/v3.3', 13],
  ];
