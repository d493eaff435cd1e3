;; The inner loops of resampling. Addresses are in bytes, samples and
;; taps are float32, and $length, a number of taps, is a multiple of 16.
(module
  (memory (export "memory") 1)
  ;; The sum of taps[i] * samples[i]. Four sums of four lanes: with fewer the processor waits for each addition to end.
  (func $dot (export "dot") (param $taps i32) (param $samples i32) (param $length i32) (result f32)
    (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $end (i32.add (local.get $taps) (i32.shl (local.get $length) (i32.const 2))))
    (loop $next
      (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $taps)) (v128.load (local.get $samples)))))
      (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $taps)) (v128.load offset=16 (local.get $samples)))))
      (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 (local.get $taps)) (v128.load offset=32 (local.get $samples)))))
      (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 (local.get $taps)) (v128.load offset=48 (local.get $samples)))))
      (local.set $samples (i32.add (local.get $samples) (i32.const 64)))
      (br_if $next (i32.lt_u (local.tee $taps (i32.add (local.get $taps) (i32.const 64))) (local.get $end))))
    (call $lanes (f32x4.add (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d)))))

  (func $lanes (param $sums v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $sums)) (f32x4.extract_lane 1 (local.get $sums)))
      (f32.add (f32x4.extract_lane 2 (local.get $sums)) (f32x4.extract_lane 3 (local.get $sums)))))

  ;; Outputs from $out to $end, each by the row of the table that its $part, in 1 / $up of a sample, stands for. From one to the next
  ;; the samples move by $whole bytes and $step parts.
  (func (export "phases") (param $table i32) (param $samples i32) (param $length i32) (param $part i32) (param $up i32) (param $whole i32) (param $step i32) (param $out i32) (param $end i32)
    (loop $next
      (f32.store (local.get $out)
        (call $dot
          (i32.add (local.get $table) (i32.shl (i32.mul (local.get $part) (local.get $length)) (i32.const 2)))
          (local.get $samples)
          (local.get $length)))
      (local.set $samples (i32.add (local.get $samples) (local.get $whole)))
      (local.set $part (i32.sub (local.get $part) (local.get $step)))
      (if (i32.lt_s (local.get $part) (i32.const 0))
        (then
          (local.set $part (i32.add (local.get $part) (local.get $up)))
          (local.set $samples (i32.add (local.get $samples) (i32.const 4)))))
      (br_if $next (i32.lt_u (local.tee $out (i32.add (local.get $out) (i32.const 4))) (local.get $end)))))

  ;; Outputs of one row of taps from $out on, four at a time until $end is reached: each is $down bytes of samples behind the one
  ;; before. The taps are read once for the four; up to three outputs behind $end are written too.
  (func (export "decimate") (param $row i32) (param $first i32) (param $length i32) (param $down i32) (param $out i32) (param $end i32)
    (local $taps i32) (local $last i32) (local $p i32) (local $q i32) (local $r i32) (local $s i32)
    (local $tap v128) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $last (i32.add (local.get $row) (i32.shl (local.get $length) (i32.const 2))))
    (loop $four
      (local.set $taps (local.get $row))
      (local.set $p (local.get $first))
      (local.set $q (i32.add (local.get $p) (local.get $down)))
      (local.set $r (i32.add (local.get $q) (local.get $down)))
      (local.set $s (i32.add (local.get $r) (local.get $down)))
      (local.set $first (i32.add (local.get $s) (local.get $down)))
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (local.get $a))
      (local.set $c (local.get $a))
      (local.set $d (local.get $a))
      (loop $next
        (local.set $tap (v128.load (local.get $taps)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $tap) (v128.load (local.get $p)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $tap) (v128.load (local.get $q)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $tap) (v128.load (local.get $r)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $tap) (v128.load (local.get $s)))))
        (local.set $tap (v128.load offset=16 (local.get $taps)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $tap) (v128.load offset=16 (local.get $p)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $tap) (v128.load offset=16 (local.get $q)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $tap) (v128.load offset=16 (local.get $r)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $tap) (v128.load offset=16 (local.get $s)))))
        (local.set $p (i32.add (local.get $p) (i32.const 32)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (local.set $r (i32.add (local.get $r) (i32.const 32)))
        (local.set $s (i32.add (local.get $s) (i32.const 32)))
        (br_if $next (i32.lt_u (local.tee $taps (i32.add (local.get $taps) (i32.const 32))) (local.get $last))))
      (f32.store (local.get $out) (call $lanes (local.get $a)))
      (f32.store offset=4 (local.get $out) (call $lanes (local.get $b)))
      (f32.store offset=8 (local.get $out) (call $lanes (local.get $c)))
      (f32.store offset=12 (local.get $out) (call $lanes (local.get $d)))
      (br_if $four (i32.lt_u (local.tee $out (i32.add (local.get $out) (i32.const 16))) (local.get $end))))))
