/// A grayscale picture: one byte per pixel, from 0 (black) to 255 (white), row by row from the top, without padding.
struct GrayImage {
    /// The largest number of pixels to decode. A photograph has 12 to 40 million pixels; a decompression bomb claims a billion.
    static let maximumPixels = 40_000_000

    let width: Int
    let height: Int
    /// `width` times `height` bytes.
    let pixels: WipedMemory

    /// Creates a black picture. Throws for one that is too large, before it allocates memory.
    init(width: Int, height: Int) throws(PictureError) {
        guard width > 0, height > 0 else { throw .damaged("the picture has no pixels") }
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, count <= Self.maximumPixels else {
            throw .tooLarge("\(width) x \(height) pixels; at most \(Self.maximumPixels / 1_000_000) million are read")
        }
        self.width = width
        self.height = height
        pixels = WipedMemory(count: count)
    }

    /// Returns the picture with each pixel enlarged to a square of `factor` pixels.
    func enlarged(by factor: Int) throws(PictureError) -> GrayImage {
        let result = try GrayImage(width: width * factor, height: height * factor)
        pixels.withBytes { source in
            result.pixels.withBytes { target in
                for row in 0..<result.height {
                    for column in 0..<result.width {
                        target[row * result.width + column] = source[row / factor * width + column / factor]
                    }
                }
            }
        }
        return result
    }

    /// Returns the picture at half its size, each pixel the mean of four. Width and height must be at least 2.
    func halved() throws(PictureError) -> GrayImage {
        let result = try GrayImage(width: width / 2, height: height / 2)
        pixels.withBytes { source in
            result.pixels.withBytes { target in
                for row in 0..<result.height {
                    for column in 0..<result.width {
                        let corner = 2 * (row * width + column)
                        let sum =
                            Int(source[corner]) + Int(source[corner + 1])
                            + Int(source[corner + width]) + Int(source[corner + width + 1])
                        target[row * result.width + column] = UInt8(sum / 4)
                    }
                }
            }
        }
        return result
    }
}
