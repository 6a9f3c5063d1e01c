/// The computation of Argon2's memory (RFC 9106 section 3.2, steps 3 to 6).
///
/// It works on pointers and in `while` loops, so that it is fast without the optimizer too. All values were checked before.
struct Argon2Fill {
    /// The type: 0 is Argon2d, 2 is Argon2id.
    let type: Int
    let version: Int
    let iterations: Int
    let parallelism: Int
    /// The number of blocks in a segment, which is a quarter of a lane.
    let segmentLength: Int
    /// The blocks of all lanes, each of 128 words.
    let memory: UnsafeMutablePointer<UInt64>
    /// Five blocks: two for the compression, the input and the output of the addresses, and a block of zeros.
    let scratch: UnsafeMutablePointer<UInt64>

    private var laneLength: Int { 4 * segmentLength }
    private var addressInput: UnsafeMutablePointer<UInt64> { scratch + 256 }
    private var addresses: UnsafeMutablePointer<UInt64> { scratch + 384 }
    private var zeros: UnsafeMutablePointer<UInt64> { scratch + 512 }

    /// Computes the first two blocks of each lane from the initial hash (H0).
    func begin(with initialHash: [UInt8]) {
        for lane in 0..<parallelism {
            for column in 0..<2 {
                let bytes = Argon2.hash(
                    initialHash + LittleEndian.bytes32(column) + LittleEndian.bytes32(lane), length: 1_024)
                let block = block(lane, column)
                for index in 0..<128 { block[index] = LittleEndian.word64(bytes, at: 8 * index) }
            }
        }
    }

    /// Fills the memory in all passes.
    func run() {
        for pass in 0..<iterations {
            for slice in 0..<4 {
                for lane in 0..<parallelism { fill(pass, slice, lane) }
            }
        }
    }

    /// Returns the XOR of the last blocks of all lanes (C), as bytes.
    func lastBlock() -> [UInt8] {
        var words = [UInt64](repeating: 0, count: 128)
        for lane in 0..<parallelism {
            let block = block(lane, laneLength - 1)
            for index in 0..<128 { words[index] ^= block[index] }
        }
        return LittleEndian.bytes(words)
    }

    private func block(_ lane: Int, _ column: Int) -> UnsafeMutablePointer<UInt64> {
        memory + (lane &* laneLength &+ column) &* 128
    }

    /// Fills one segment.
    private func fill(_ pass: Int, _ slice: Int, _ lane: Int) {
        // Argon2id takes its addresses from the position in the first half of the first pass, and from the content after it.
        let isIndependent = type == 2 && pass == 0 && slice < 2
        if isIndependent {
            let values = [pass, lane, slice, parallelism * laneLength, iterations, type]
            addressInput.update(repeating: 0, count: 128)
            for (index, value) in values.enumerated() { addressInput[index] = UInt64(value) }
        }
        let isXored = pass > 0 && version == 0x13
        var index = pass == 0 && slice == 0 ? 2 : 0
        if isIndependent && index > 0 { computeAddresses() }
        while index < segmentLength {
            if isIndependent && index % 128 == 0 { computeAddresses() }
            let column = slice &* segmentLength &+ index
            let previous = block(lane, column == 0 ? laneLength &- 1 : column &- 1)
            let random = isIndependent ? addresses[index % 128] : previous[0]
            let isFirstSegment = pass == 0 && slice == 0
            let otherLane = isFirstSegment ? lane : Int(truncatingIfNeeded: (random &>> 32) % UInt64(parallelism))
            let reference = reference(random & 0xFFFF_FFFF, pass, slice, index, isOwnLane: otherLane == lane)
            compress(previous, block(otherLane, reference), into: block(lane, column), isXored: isXored)
            index &+= 1
        }
    }

    /// Computes the next 128 addresses from the position (RFC 9106 section 3.4.1.2).
    private func computeAddresses() {
        addressInput[6] &+= 1
        compress(zeros, addressInput, into: addresses, isXored: false)
        compress(zeros, addresses, into: addresses, isXored: false)
    }

    /// Returns the column of the block that is mixed in, for the low 32 bits of an address (RFC 9106 section 3.4.2).
    private func reference(_ low: UInt64, _ pass: Int, _ slice: Int, _ index: Int, isOwnLane: Bool) -> Int {
        // The blocks that are finished, without the segments of other lanes that are filled at the same time.
        let finished = pass == 0 ? slice &* segmentLength : laneLength &- segmentLength
        let area = isOwnLane ? finished &+ index &- 1 : (index == 0 ? finished &- 1 : finished)
        let square = (low &* low) &>> 32
        let position = area &- 1 &- Int(truncatingIfNeeded: (UInt64(area) &* square) &>> 32)
        let start = pass == 0 || slice == 3 ? 0 : (slice &+ 1) &* segmentLength
        return (start &+ position) % laneLength
    }

    // MARK: Compression

    /// Compresses two blocks with the function G (RFC 9106 section 3.5).
    /// - Parameters:
    ///   - first: A block, which may be the result too.
    ///   - second: A block, which may be the result too.
    ///   - result: The block that is written.
    ///   - isXored: True to XOR the result with what it was before.
    private func compress(
        _ first: UnsafeMutablePointer<UInt64>, _ second: UnsafeMutablePointer<UInt64>,
        into result: UnsafeMutablePointer<UInt64>, isXored: Bool
    ) {
        let (permuted, plain) = (scratch, scratch + 128)
        var index = 0
        while index < 128 {
            let word = first[index] ^ second[index]
            permuted[index] = word
            plain[index] = isXored ? word ^ result[index] : word
            index &+= 1
        }
        index = 0
        while index < 8 {
            permute(permuted + 16 &* index, 2)
            index &+= 1
        }
        index = 0
        while index < 8 {
            permute(permuted + 2 &* index, 16)
            index &+= 1
        }
        index = 0
        while index < 128 {
            result[index] = permuted[index] ^ plain[index]
            index &+= 1
        }
    }

    /// Applies the permutation P (RFC 9106 section 3.6) to eight pairs of words, which are `stride` words apart.
    @inline(__always)
    private func permute(_ words: UnsafeMutablePointer<UInt64>, _ stride: Int) {
        let (p1, p2, p3) = (words + stride, words + 2 &* stride, words + 3 &* stride)
        let (p4, p5, p6, p7) = (words + 4 &* stride, words + 5 &* stride, words + 6 &* stride, words + 7 &* stride)
        var (v0, v1, v2, v3) = (words[0], words[1], p1[0], p1[1])
        var (v4, v5, v6, v7) = (p2[0], p2[1], p3[0], p3[1])
        var (v8, v9, v10, v11) = (p4[0], p4[1], p5[0], p5[1])
        var (v12, v13, v14, v15) = (p6[0], p6[1], p7[0], p7[1])
        mix(&v0, &v4, &v8, &v12)
        mix(&v1, &v5, &v9, &v13)
        mix(&v2, &v6, &v10, &v14)
        mix(&v3, &v7, &v11, &v15)
        mix(&v0, &v5, &v10, &v15)
        mix(&v1, &v6, &v11, &v12)
        mix(&v2, &v7, &v8, &v13)
        mix(&v3, &v4, &v9, &v14)
        (words[0], words[1], p1[0], p1[1]) = (v0, v1, v2, v3)
        (p2[0], p2[1], p3[0], p3[1]) = (v4, v5, v6, v7)
        (p4[0], p4[1], p5[0], p5[1]) = (v8, v9, v10, v11)
        (p6[0], p6[1], p7[0], p7[1]) = (v12, v13, v14, v15)
    }

    /// Applies the function GB (RFC 9106 section 3.6).
    @inline(__always)
    private func mix(_ a: inout UInt64, _ b: inout UInt64, _ c: inout UInt64, _ d: inout UInt64) {
        let low: UInt64 = 0xFFFF_FFFF
        var product: UInt64 = (a & low) &* (b & low)
        a = a &+ b &+ product &+ product
        d ^= a
        d = (d &>> 32) | (d &<< 32)
        product = (c & low) &* (d & low)
        c = c &+ d &+ product &+ product
        b ^= c
        b = (b &>> 24) | (b &<< 40)
        product = (a & low) &* (b & low)
        a = a &+ b &+ product &+ product
        d ^= a
        d = (d &>> 16) | (d &<< 48)
        product = (c & low) &* (d & low)
        c = c &+ d &+ product &+ product
        b ^= c
        b = (b &>> 63) | (b &<< 1)
    }
}
