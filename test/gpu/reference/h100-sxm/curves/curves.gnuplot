set terminal svg size 900,540 background 'white'
set datafile separator ','
set ylabel 'cycles'
set grid
unset key
is_there(file) = int(system('test -s ' . file . ' && echo 1 || echo 0'))

if (is_there('chase.csv')) {
  set output 'chase.svg'
  set title 'A dependent load, against the working set (NVIDIA H100 80GB HBM3)'
  set xlabel 'KiB'
  unset logscale
  set logscale x 2
  plot 'chase.csv' skip 1 using 1:2 with points pt 7 ps 0.3
}

if (is_there('strides.csv')) {
  set output 'strides.svg'
  set title 'A dependent load, against the number of pointers and their distance (NVIDIA H100 80GB HBM3)'
  set xlabel 'pointers'
  unset logscale
  set logscale x 2
  plot 'strides.csv' skip 1 using 2:3:1 with points pt 7 ps 0.4 palette
}

if (is_there('touch_l1.csv')) {
  set output 'touch_l1.svg'
  set title 'A second load behind a first one that the L1 did not have (NVIDIA H100 80GB HBM3)'
  set xlabel 'bytes behind the first'
  unset logscale
  
  plot 'touch_l1.csv' skip 1 using 1:2 with points pt 7 ps 0.4
}

if (is_there('touch_l2.csv')) {
  set output 'touch_l2.svg'
  set title 'A second load behind a first one that the L2 did not have (NVIDIA H100 80GB HBM3)'
  set xlabel 'bytes behind the first'
  unset logscale
  
  plot 'touch_l2.csv' skip 1 using 1:2 with points pt 7 ps 0.4
}

if (is_there('distance.csv')) {
  set output 'distance.svg'
  set title 'First (0) and second (1) load of a line, by SM (NVIDIA H100 80GB HBM3)'
  set xlabel 'SM'
  unset logscale
  
  plot 'distance.csv' skip 1 using 1:3:2 with points pt 7 ps 0.3 palette
}

if (is_there('bits.csv')) {
  set output 'bits.svg'
  set title 'A second load from memory whose address differs in one bit (NVIDIA H100 80GB HBM3)'
  set xlabel 'bit'
  unset logscale
  
  plot 'bits.csv' skip 1 using 1:2 with points pt 7 ps 0.4
}

if (is_there('batches.csv')) {
  set output 'batches.svg'
  set title 'Until all of some simultaneous requests have arrived, by requesting SMs (NVIDIA H100 80GB HBM3)'
  set xlabel 'requests of each SM'
  unset logscale
  set logscale x 2
  plot 'batches.csv' skip 1 using 2:3:1 with points pt 7 ps 0.6 palette
}
