// Writes as many bytes as each message asks for, and answers whether the system let it. What it wrote before is given up.
let written: Buffer | undefined;

process.on('message', ({ bytes }: { readonly bytes: number }) => {
  written = undefined;
  try {
    written = Buffer.alloc(bytes, 1);
    process.send!(written.length === bytes ? 'written' : 'cut');
  } catch {
    process.send!('refused');
  }
});
