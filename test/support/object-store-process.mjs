// An S3-compatible server of its own: `object-store-process.mjs DIRECTORY BUCKET`. Prints its port, and lives until its standard
// input ends.
import S3rver from '@20minutes/s3rver';

const [directory, bucket] = process.argv.slice(2);
const server = new S3rver({
  directory,
  address: '127.0.0.1',
  port: 0,
  silent: true,
  configureBuckets: [{ name: bucket, configs: [] }],
});
const { port } = await server.run();
console.log(port);
process.stdin.resume().once('end', () => process.exit());
