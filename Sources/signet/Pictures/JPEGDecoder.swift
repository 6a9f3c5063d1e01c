/// JPEG by libjpeg-turbo's own interface, which reports an error instead of ending the process. No header is needed: the
/// signatures and numbers below are those of TurboJPEG 2.x (turbojpeg.h), and its soname stands for them.
enum JPEGDecoder {
    /// The brightness of a JPEG picture. A warning counts as an error: the decoder's way to say "the rest is missing" is to
    /// paint it grey and to warn.
    static func decode(_ file: UnsafeRawBufferPointer) throws(PictureError) -> GreyImage {
        let library = try Library()
        guard let decoder = library.create() else { throw .unreadable("no memory for a JPEG decoder") }
        defer { _ = library.destroy(decoder) }

        var (width, height, subsampling, colours): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
        let header = library.readHeader(
            decoder, file.baseAddress, CUnsignedLong(file.count), &width, &height, &subsampling, &colours)
        guard header == 0 else { throw failure(library, decoder) }
        guard width > 0, height > 0 else { throw .damaged("JPEG: it ends before its pixels begin") }
        guard colours != Library.cmyk, colours != Library.ycck else {
            throw .unreadable("it is a JPEG for print (CMYK); save it as PNG")
        }

        let image = try GreyImage(width: Int(width), height: Int(height))
        let read = image.pixels.withBytes {
            library.decompress(
                decoder, file.baseAddress, CUnsignedLong(file.count), $0.baseAddress, width, 0, height, Library.grey,
                Library.stopOnWarning | Library.limitScans)
        }
        guard read == 0 else { throw failure(library, decoder) }
        return image
    }

    private static func failure(_ library: Library, _ decoder: UnsafeMutableRawPointer) -> PictureError {
        .damaged("JPEG: " + (library.message(decoder).map { String(cString: $0) } ?? "no reason given"))
    }
}

extension JPEGDecoder {
    /// The functions of TurboJPEG we call.
    private struct Library {
        typealias Decoder = UnsafeMutableRawPointer
        typealias Number = UnsafeMutablePointer<CInt>
        typealias ReadHeader =
            @convention(c) (Decoder, UnsafeRawPointer?, CUnsignedLong, Number, Number, Number, Number) -> CInt
        typealias Decompress =
            @convention(c) (
                Decoder, UnsafeRawPointer?, CUnsignedLong, UnsafeMutableRawPointer?, CInt, CInt, CInt, CInt, CInt
            ) -> CInt

        /// TJPF_GRAY, a pixel format.
        static let grey: CInt = 6
        /// TJCS_CMYK and TJCS_YCCK, colour spaces that have no conversion to grey.
        static let cmyk: CInt = 3
        static let ycck: CInt = 4
        /// TJFLAG_STOPONWARNING.
        static let stopOnWarning: CInt = 8192
        /// TJFLAG_LIMITSCANS: a small progressive file can otherwise keep a processor busy for minutes.
        static let limitScans: CInt = 32768

        let create: @convention(c) () -> Decoder?
        let readHeader: ReadHeader
        let decompress: Decompress
        let message: @convention(c) (Decoder) -> UnsafePointer<CChar>?
        let destroy: @convention(c) (Decoder) -> CInt

        init() throws(PictureError) {
            let library = try DynamicLibrary("libturbojpeg.so.0", aptPackage: "libturbojpeg0")
            create = try library.function("tjInitDecompress")
            readHeader = try library.function("tjDecompressHeader3")
            decompress = try library.function("tjDecompress2")
            message = try library.function("tjGetErrorStr2")
            destroy = try library.function("tjDestroy")
        }
    }
}
