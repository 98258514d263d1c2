/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed_weights.h - the numbers by which fixed_join.cl finds a sum from its residues, for each
 * number of moduli. With M the product of the moduli and m one of them:
 *
 * LIMBS     words of 32 bits of M, the lowest first in what follows
 * weight    M / m, for each modulus
 * inverse   the inverse of M / m modulo m, for each modulus
 * less      2^(32 LIMBS) - M
 * UP        what multiplies a sum's word LIMBS - 1, as a power of two, so that M has 24 bits
 * SHARE     2^55 divided by M in those units
 *
 * tests/offline/fixed_exact_of.c checks them against the moduli.
 */
#if ISO_MODULI == 6
#define LIMBS 2
#define UP    8
#define SHARE 0x9200bbbfu
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {167, 146, 53, 243, 206, 184};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0x6f178117u, 0x000000e0u, 0x5067e900u, 0x000000e1u, 0x1860a300u, 0x000000e3u,
    0xe79d9500u, 0x000000e4u, 0x9c98e100u, 0x000000e8u, 0x67228700u, 0x000000eeu};
ISO_CONSTANT iso_u32 less[LIMBS] = {0xe87ee900u, 0xffff1f90u};
#elif ISO_MODULI == 7
#define LIMBS 2
#define UP    0
#define SHARE 0x9c635459u
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {201, 214, 195, 168, 36, 149, 41};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0xb6f18479u, 0x0000d187u, 0x11028700u, 0x0000d25au, 0xc2382d00u, 0x0000d403u, 0x3c1e1b00u,
    0x0000d5b4u, 0x32ba0f00u, 0x0000d92au, 0x493c0900u, 0x0000de92u, 0x17811700u, 0x0000e06fu};
ISO_CONSTANT iso_u32 less[LIMBS] = {0x0e7b8700u, 0xff2e7849u};
#elif ISO_MODULI == 8
#define LIMBS 2
#define UP    -8
#define SHARE 0xabd35096u
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {225, 83, 180, 158, 68, 132, 33, 115};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0x81d19221u, 0x00beb485u, 0x7b4cdf00u, 0x00bf73f9u, 0xc520f500u, 0x00c0f76bu,
    0xb7669300u, 0x00c2810au, 0x2b57a700u, 0x00c5a768u, 0xa7a43100u, 0x00ca9324u,
    0x647def00u, 0x00cc451cu, 0xf1847900u, 0x00d187b6u};
ISO_CONSTANT iso_u32 less[LIMBS] = {0x2e6ddf00u, 0x414b7a7eu};
#elif ISO_MODULI == 9
#define LIMBS 3
#define UP    16
#define SHARE 0xc0159793u
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {77, 242, 119, 221, 106, 230, 164, 146, 161};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0x2077b785u, 0xaa977b6du, 0x00000000u, 0x4bc37b00u, 0xab42be2bu, 0x00000000u, 0x567b2900u,
    0xac9d5367u, 0x00000000u, 0x0ec17f00u, 0xadfd6e96u, 0x00000000u, 0xc5686300u, 0xb0cec02eu,
    0x00000000u, 0xf5dfd500u, 0xb5359fc9u, 0x00000000u, 0xe4a6cb00u, 0xb6b9d265u, 0x00000000u,
    0x0b803d00u, 0xbb6e66a6u, 0x00000000u, 0xd1922100u, 0xbeb48581u, 0x00000000u};
ISO_CONSTANT iso_u32 less[LIMBS] = {0x88487b00u, 0x688492dfu, 0xffffff55u};
#elif ISO_MODULI == 10
#define LIMBS 3
#define UP    8
#define SHARE 0xd89fae52u
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {15, 46, 83, 64, 217, 18, 66, 131, 34, 54};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0xca27baefu, 0x445271c3u, 0x00000097u, 0x2e561100u, 0xdc2ea064u, 0x00000097u,
    0xaf355b00u, 0x0f80f4a1u, 0x00000099u, 0x15939d00u, 0x47b90f0fu, 0x0000009au,
    0x0b8fc900u, 0xc7546979u, 0x0000009cu, 0x0579df00u, 0xae8cb015u, 0x000000a0u,
    0xbfe60100u, 0x06c59059u, 0x000000a2u, 0x32b61700u, 0x32e5053cu, 0x000000a6u,
    0xd4934300u, 0x1a12621cu, 0x000000a9u, 0x77b78500u, 0x977b6d20u, 0x000000aau};
ISO_CONSTANT iso_u32 less[LIMBS] = {0xd8451100u, 0xad8e3c35u, 0xffff68bbu};
#elif ISO_MODULI == 11
#define LIMBS 3
#define UP    0
#define SHARE 0xf8ae2083u
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {209, 142, 90, 177, 63, 240, 205, 150, 147, 100, 163};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0x189bd631u, 0x83d1198du, 0x000083c4u, 0x5cf8cf00u, 0xcc9db744u, 0x00008448u, 0x9f7a4500u,
    0x815518d7u, 0x00008554u, 0xcb95c300u, 0x7a341e23u, 0x00008664u, 0x12401700u, 0xa287e071u,
    0x00008891u, 0xc5294100u, 0x0c8d624fu, 0x00008bf8u, 0x295adf00u, 0xe618be2eu, 0x00008d23u,
    0x2c9e0900u, 0x557f8f70u, 0x000090c6u, 0x2c475d00u, 0xb603771du, 0x0000934du, 0x48dcdb00u,
    0xf4840f48u, 0x00009499u, 0x27baef00u, 0x5271c3cau, 0x00009744u};
ISO_CONSTANT iso_u32 less[LIMBS] = {0x6429cf00u, 0x2ee672e7u, 0xff7c3b7cu};
#elif ISO_MODULI == 15
#define LIMBS 4
#define UP    2
#define SHARE 0x94c1faeeu
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {225, 137, 191, 181, 120, 1,   140, 80,
                                           65,  63,  95,  80,  48,  128, 91};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0x7d161a21u, 0x03104ccbu, 0xc48aea83u, 0x00003711u, 0xaec4df00u, 0x09196631u, 0x0d988306u,
    0x00003749u, 0x6648f500u, 0x2c960ef8u, 0xef58f563u, 0x000037b8u, 0xae7e9300u, 0x28dc9bd6u,
    0x998a9fa1u, 0x0000382au, 0x710fa700u, 0x489dd970u, 0x739b60ebu, 0x00003913u, 0xb4ac3100u,
    0x80994803u, 0x38e00b2au, 0x00003a7fu, 0xd875ef00u, 0xfded0a7du, 0x89af934au, 0x00003afcu,
    0xfccc7900u, 0x8b9b3f7fu, 0x64943be4u, 0x00003c81u, 0x916c8d00u, 0x4f713e5fu, 0xf331180cu,
    0x00003d8fu, 0x387c2b00u, 0x96102079u, 0xcddcf1eau, 0x00003e1au, 0x6644ff00u, 0x081be55cu,
    0xfc07f084u, 0x00003f37u, 0x3b168900u, 0x2e1596c3u, 0x77cad03cu, 0x000040f7u, 0x2480bb00u,
    0x550193c5u, 0x6692b42fu, 0x000042d0u, 0xf1f5d700u, 0xf1ee6037u, 0xd262f281u, 0x000046d7u,
    0x6e91ad00u, 0x3bdc0108u, 0xf11c7ad1u, 0x0000478fu};
ISO_CONSTANT iso_u32 less[LIMBS] = {0xe9e5df00u, 0xefb33482u, 0x75157cfcu, 0xffc8ee3bu};
#elif ISO_MODULI == 16
#define LIMBS 4
#define UP    -6
#define SHARE 0xc550e2b9u
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {33, 224, 195, 157, 135, 5,  184, 231,
                                           30, 125, 34,  69,  138, 45, 125, 116};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0x4da9b2e1u, 0x4f49e569u, 0x2cbaccc5u, 0x00298465u, 0xc26c1f00u, 0xdc260b74u, 0x3ffac78cu,
    0x0029ae13u, 0x1d00b500u, 0x9d214945u, 0x7210ffc4u, 0x002a026cu, 0x8d6cd300u, 0xce517cd9u,
    0xc182587fu, 0x002a581du, 0x3ccce700u, 0xbf00edc5u, 0x28241161u, 0x002b07aau, 0x35d0f100u,
    0xf38f4acbu, 0xe0e86b0au, 0x002c19e9u, 0x30e92f00u, 0x6fb4e8e0u, 0xcd5e0b89u, 0x002c7863u,
    0x96273900u, 0x400adf7du, 0xd3c1274du, 0x002d9d8cu, 0xa2d64d00u, 0xe460060cu, 0x58032147u,
    0x002e6986u, 0x959c6b00u, 0x22287b63u, 0x339261dbu, 0x002ed235u, 0x1a043f00u, 0x1d07eaa9u,
    0x01fc538au, 0x002fa935u, 0x8bfd4900u, 0xbe46a92fu, 0x4fe6fd5eu, 0x0030fa91u, 0x850cfb00u,
    0x163067a0u, 0x5499d7afu, 0x00325f1du, 0x6a571700u, 0x64b68a2du, 0x9c98d3f7u, 0x003568b5u,
    0x5bd36d00u, 0x20dcc75bu, 0xc67897beu, 0x0035f384u, 0x161a2100u, 0x104ccb7du, 0x8aea8303u,
    0x003711c4u};
ISO_CONSTANT iso_u32 less[LIMBS] = {0x564d1f00u, 0xb61a96b2u, 0x45333ab0u, 0xd67b9ad3u};
#elif ISO_MODULI == 17
#define LIMBS 5
#define UP    19
#define SHARE 0x843b913du
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {31,  124, 156, 194, 2,  24, 36,  111, 180,
                                           192, 208, 206, 183, 69, 12, 135, 149};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0xf19c75dfu, 0x28222990u, 0x5f5ec736u, 0x1ef9c77cu, 0x00000000u, 0x0eab2100u, 0x40628c1du,
    0xbc1ae218u, 0x1f18e05cu, 0x00000000u, 0xa3870b00u, 0x3bd5aa90u, 0x1aaed3b1u, 0x1f57cee9u,
    0x00000000u, 0x84316d00u, 0xeecc2650u, 0x6040075au, 0x1f97be33u, 0x00000000u, 0x5ce05900u,
    0x81b16628u, 0xf2e8f7edu, 0x201ab7f3u, 0x00000000u, 0x26e3cf00u, 0xb7e8cd9du, 0xcd67dd2bu,
    0x20e7557eu, 0x00000000u, 0x7dfa1100u, 0x57f9bf44u, 0x392a9b8au, 0x212dd276u, 0x00000000u,
    0x07438700u, 0xc81cbeb3u, 0xfd1c52a2u, 0x22088c11u, 0x00000000u, 0x7de37300u, 0x63a4836du,
    0xaa55d4a3u, 0x22a0bb3bu, 0x00000000u, 0x9fb3d500u, 0x7c340f4cu, 0x7a37027eu, 0x22eed5b1u,
    0x00000000u, 0x692b0100u, 0xa8e8142au, 0x7b42540bu, 0x238f3e8cu, 0x00000000u, 0x71f97700u,
    0xf6b83a79u, 0x9d5709afu, 0x248af26au, 0x00000000u, 0x44af4500u, 0x8e1d50c3u, 0x1ec7eba1u,
    0x2594f6e2u, 0x00000000u, 0x56fa2900u, 0x243117e2u, 0xd6062594u, 0x27d91f7fu, 0x00000000u,
    0x82be5300u, 0x84b8bd29u, 0x13f936dau, 0x2840b010u, 0x00000000u, 0x7d7e9f00u, 0x294bd253u,
    0xa4f7bf49u, 0x291641a3u, 0x00000000u, 0xa9b2e100u, 0x49e5694du, 0xbaccc54fu, 0x2984652cu,
    0x00000000u};
ISO_CONSTANT iso_u32 less[LIMBS] = {0x638a2100u, 0xddd66f0eu, 0xa138c9d7u, 0x063883a0u,
                                    0xffffffe1u};
#elif ISO_MODULI == 18
#define LIMBS 5
#define UP    11
#define SHARE 0xbb0675bbu
ISO_CONSTANT iso_u8 inverse[ISO_MODULI] = {3,   19, 40,  155, 232, 96,  123, 83,  168,
                                           134, 80, 151, 15,  162, 147, 37,  157, 164};
ISO_CONSTANT iso_u32 weight[ISO_MODULI * LIMBS] = {
    0xd39f56abu, 0x6027637au, 0x6e02d94au, 0xe69a0aefu, 0x00000015u, 0x5efe5500u, 0x85ad108bu,
    0xff01db25u, 0xfc96a190u, 0x00000015u, 0x9e7ac700u, 0x4e119843u, 0xdd9bac4fu, 0x29154acfu,
    0x00000016u, 0x76f21100u, 0xd65716edu, 0x0d45334au, 0x56497a53u, 0x00000016u, 0xaa9eed00u,
    0xb26d3a89u, 0xbeb74aecu, 0xb2e40f7au, 0x00000016u, 0x7f115b00u, 0x0799601cu, 0x3a6f5fe9u,
    0x438f72a7u, 0x00000017u, 0x11ce0500u, 0x33943b6du, 0x6b1ff8d0u, 0x7565cd96u, 0x00000017u,
    0x22be7300u, 0x7c52d494u, 0xf5066d17u, 0x100b08b7u, 0x00000018u, 0x01d04f00u, 0x7350ec6au,
    0x6eaf5785u, 0x7ba4612fu, 0x00000018u, 0xea259900u, 0xd0ced12cu, 0x68e4c36du, 0xb2dd167bu,
    0x00000018u, 0x5b67b500u, 0x6c1641fcu, 0x25e56c3eu, 0x24473953u, 0x00000019u, 0x95612300u,
    0x704157ddu, 0x3e89d969u, 0xd63d6561u, 0x00000019u, 0x8febc900u, 0x7aba1a0fu, 0xc3599939u,
    0x92528ddfu, 0x0000001au, 0x7edefd00u, 0x96b5e307u, 0x525891bdu, 0x2c834562u, 0x0000001cu,
    0x7090af00u, 0xd69dbe59u, 0x1f33c87fu, 0x75bc7b5eu, 0x0000001cu, 0xba866b00u, 0x329bb507u,
    0xa32a3ebau, 0x0cbc68b3u, 0x0000001du, 0xfb791500u, 0x3f3373e8u, 0x12c7810fu, 0x5a9b88a0u,
    0x0000001du, 0x9c75df00u, 0x222990f1u, 0x5ec73628u, 0xf9c77c5fu, 0x0000001eu};
ISO_CONSTANT iso_u32 less[LIMBS] = {0x60a95500u, 0xd89c852cu, 0xfd26b59fu, 0x65f51091u,
                                    0xffffea19u};
#endif
