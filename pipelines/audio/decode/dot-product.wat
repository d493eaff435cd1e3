;; The inner loop of resampling. Assembled with wat2wasm, the bytes are in dot-product.ts.
(module
  (memory (export "memory") 1)
  ;; The sum of taps[i] * samples[i] over $length, a multiple of 16; both are addresses of float32. Four sums of four lanes:
  ;; with fewer the processor waits for each addition to end.
  (func (export "dot") (param $taps i32) (param $samples i32) (param $length i32) (result f32)
    (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $end (i32.add (local.get $taps) (i32.shl (local.get $length) (i32.const 2))))
    (loop $next
      (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $taps)) (v128.load (local.get $samples)))))
      (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $taps)) (v128.load offset=16 (local.get $samples)))))
      (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 (local.get $taps)) (v128.load offset=32 (local.get $samples)))))
      (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 (local.get $taps)) (v128.load offset=48 (local.get $samples)))))
      (local.set $samples (i32.add (local.get $samples) (i32.const 64)))
      (br_if $next (i32.lt_u (local.tee $taps (i32.add (local.get $taps) (i32.const 64))) (local.get $end))))
    (local.set $a (f32x4.add (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
      (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a))))))
