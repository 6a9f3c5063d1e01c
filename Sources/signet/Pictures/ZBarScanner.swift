/// A scanner of libzbar 0.23 for QR codes.
///
/// It needs no header: signatures and constants are those of its zbar.h.
///
/// Only QR codes are enabled. The other symbologies would find bar codes in pictures without any, and their decoders would run
/// more C code on untrusted pictures.
final class ZBarScanner {
    private let library: Library
    private let scanner: OpaquePointer

    init() throws(PictureError) {
        library = try Library()
        guard let scanner = library.createScanner() else { throw .unreadable("no memory for a scanner") }
        self.scanner = scanner
        let settings: [(symbol: CInt, setting: CInt, value: CInt)] = [
            (Library.anySymbol, Library.enable, 0),
            (Library.qrCode, Library.enable, 1),
            // Otherwise zbar guesses the encoding, and mistakes UTF-8 for Shift-JIS.
            (Library.qrCode, Library.binary, 1),
            // Accepts white-on-black codes, as dark themes show them. zbar has this setting only for the scanner as a whole.
            (Library.anySymbol, Library.testInverted, 1),
        ]
        for entry in settings {
            guard library.configure(scanner, entry.symbol, entry.setting, entry.value) == 0 else {
                throw .unreadable("the library libzbar.so.0 is too old: it refuses setting \(entry.setting)")
            }
        }
    }

    deinit {
        library.destroyScanner(scanner)
    }

    /// Returns the bytes of every distinct QR code in the picture.
    func codes(in image: GrayImage) throws(PictureError) -> [[UInt8]] {
        guard let frame = library.createImage() else { throw .unreadable("no memory for a picture") }
        defer { library.destroyImage(frame) }
        library.setFormat(frame, Library.y800)
        library.setSize(frame, CUnsignedInt(image.width), CUnsignedInt(image.height))
        return try image.pixels.withBytes { (pixels) throws(PictureError) in
            library.setData(frame, pixels.baseAddress, CUnsignedLong(pixels.count), nil)
            guard library.scan(scanner, frame) >= 0 else { throw .unreadable("zbar could not scan the picture") }
            return takeCodes(from: frame)
        }
    }

    private func takeCodes(from frame: OpaquePointer) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var next = library.firstSymbol(frame)
        while let symbol = next {
            next = library.nextSymbol(symbol)
            guard let data = library.data(symbol) else { continue }
            let bytes = UnsafeMutableRawBufferPointer(start: data, count: Int(library.dataLength(symbol)))
            let code = Array(bytes)
            if library.symbolType(symbol) == Library.qrCode && !found.contains(code) { found.append(code) }
            // zbar frees the text without wiping it.
            WipedMemory.wipe(bytes.baseAddress, count: bytes.count)
        }
        return found
    }
}

extension ZBarScanner {
    private struct Library {
        typealias Symbol = OpaquePointer
        typealias SetData =
            @convention(c) (
                OpaquePointer, UnsafeRawPointer?, CUnsignedLong, (@convention(c) (OpaquePointer?) -> Void)?
            ) -> Void

        /// ZBAR_NONE, which selects all symbols in a setting, and ZBAR_QRCODE.
        static let anySymbol: CInt = 0
        static let qrCode: CInt = 64
        /// ZBAR_CFG_ENABLE, ZBAR_CFG_BINARY and ZBAR_CFG_TEST_INVERTED.
        static let enable: CInt = 0
        static let binary: CInt = 4
        static let testInverted: CInt = 129
        /// The characters "Y800" in little-endian order: one byte of brightness per pixel.
        static let y800: CUnsignedLong = 0x3030_3859

        let createScanner: @convention(c) () -> OpaquePointer?
        let destroyScanner: @convention(c) (OpaquePointer) -> Void
        let configure: @convention(c) (OpaquePointer, CInt, CInt, CInt) -> CInt
        let scan: @convention(c) (OpaquePointer, OpaquePointer) -> CInt
        let createImage: @convention(c) () -> OpaquePointer?
        let destroyImage: @convention(c) (OpaquePointer) -> Void
        let setFormat: @convention(c) (OpaquePointer, CUnsignedLong) -> Void
        let setSize: @convention(c) (OpaquePointer, CUnsignedInt, CUnsignedInt) -> Void
        let setData: SetData
        let firstSymbol: @convention(c) (OpaquePointer) -> Symbol?
        let nextSymbol: @convention(c) (Symbol) -> Symbol?
        let symbolType: @convention(c) (Symbol) -> CInt
        let data: @convention(c) (Symbol) -> UnsafeMutableRawPointer?
        let dataLength: @convention(c) (Symbol) -> CUnsignedInt

        init() throws(PictureError) {
            let library = try DynamicLibrary("libzbar.so.0", aptPackage: "libzbar0")
            createScanner = try library.function("zbar_image_scanner_create")
            destroyScanner = try library.function("zbar_image_scanner_destroy")
            configure = try library.function("zbar_image_scanner_set_config")
            scan = try library.function("zbar_scan_image")
            createImage = try library.function("zbar_image_create")
            destroyImage = try library.function("zbar_image_destroy")
            setFormat = try library.function("zbar_image_set_format")
            setSize = try library.function("zbar_image_set_size")
            setData = try library.function("zbar_image_set_data")
            firstSymbol = try library.function("zbar_image_first_symbol")
            nextSymbol = try library.function("zbar_symbol_next")
            symbolType = try library.function("zbar_symbol_get_type")
            data = try library.function("zbar_symbol_get_data")
            dataLength = try library.function("zbar_symbol_get_data_length")
        }
    }
}
