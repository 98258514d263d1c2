# ReFrame: isomer's figures as performance tests of a cluster, one for each backend.
#   reframe -C your_site.py -c reframe.py -r -n IsomerBench%backend=cuda
import json
import os

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class IsomerBench(rfm.RunOnlyRegressionTest):
    backend = parameter(['cuda', 'hip', 'opencl', 'openmp'])
    descr = 'isomer bench on one backend'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'isomer'
    executable_opts = ['bench', '--suite', 'quick', '--budget', '60', '--json', 'results.json',
                       '--csv', 'results.csv', '--report', 'report.html']
    keep_files = ['results.json', 'results.csv', 'report.html']
    # Your own figure from a good run, and how far below it is a failure:
    # reference = {'cluster:gpu': {'triad_f64': (FIGURE, -0.05, None, 'GB/s')}}

    @run_after('init')
    def name_the_backend(self):
        # By name: if it is not available, isomer ends with code 3 and reports why.
        self.executable_opts += ['--backend', self.backend]

    @sanity_function
    def every_result_is_right(self):
        # Code 1 is a wrong result.
        return sn.assert_eq(self.job.exitcode, 0)

    @performance_function('GB/s')
    def triad_f64(self):
        return self.best('stream', 'triad', 'f64', 'gbps')

    @performance_function('GFLOP/s')
    def product_f32(self):
        return self.best('gemm', None, 'f32', 'gflops')

    @deferrable
    def best(self, op, kind, dtype, rate):
        with open(os.path.join(self.stagedir, 'results.json')) as file:
            results = json.load(file)['results']
        return max(r['rates'][rate]['value'] for r in results
                   if r['op'] == op and r['kind'] == kind and r['dtype'] == dtype
                   and r['status'] == 'ok' and r['rates'][rate]
                   and not (rate == 'gbps' and 'in-cache' in r['flags']))
