<?php
// Loads every class of the generated client.
require 'GuzzleHttp/autoload.php';
$lib = $argv[1] . '/lib/';
spl_autoload_register(function ($class) use ($lib) {
    $file = $lib . str_replace('\\', '/', substr($class, strlen('OpenAPI\\Client\\'))) . '.php';
    if (is_file($file)) { require_once $file; }
});
$loaded = 0;
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($lib)) as $file) {
    if ($file->getExtension() === 'php') { require_once $file->getPathname(); $loaded++; }
}
if ($loaded < 50) { fwrite(STDERR, "only $loaded files\n"); exit(1); }
