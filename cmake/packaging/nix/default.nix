# nix-build cmake/packaging/nix && result/bin/regatta version
{ pkgs ? import <nixpkgs> { } }:

let
  # headers only, and in no package of Nix
  random123 = builtins.fetchTarball "https://github.com/DEShawResearch/random123/archive/refs/tags/v1.14.0.tar.gz";
  # its source is built with Regatta: Nix has no L-BFGS-B
  lbfgsb = builtins.fetchTarball "http://users.iems.northwestern.edu/~nocedal/Software/Lbfgsb.3.0.tar.gz";
  python = pkgs.python3.withPackages (p: with p; [
    numpy scipy pandas h5py xarray matplotlib jinja2 pyyaml xxhash
  ]);
in
pkgs.stdenv.mkDerivation {
  pname = "regatta";
  version = "1.0.0";
  src = pkgs.lib.cleanSource ../../..;

  nativeBuildInputs = with pkgs; [ cmake gfortran ninja pkg-config makeWrapper ];
  buildInputs = with pkgs; [ mpi petsc hdf5-mpi openblas scalapack gsl libyaml jansson xxHash ];
  cmakeFlags = [
    "-DREGATTA_LBFGSB_SOURCE=${lbfgsb}"
    "-DREGATTA_TESTS=OFF"
    "-DCMAKE_PREFIX_PATH=${random123}"
  ];
  postInstall = ''
    wrapProgram $out/bin/regatta-analysis --set REGATTA_PYTHON ${python}/bin/python3
  '';

  meta = {
    description = "Bayesian-optimisation regret studies on MPI clusters";
    license = pkgs.lib.licenses.bsd2;
    mainProgram = "regatta";
  };
}
