import SignetStorage
import Testing

@Suite("Random bytes")
struct RandomBytesTests {
    @Test(
        "Random bytes have the requested number, and no two values are the same",
        arguments: [0, 1, 12, 16, 32, 255, 256, 257, 1000])
    func makesRandomBytes(count: Int) {
        let values = (0..<8).map { _ in RandomBytes.next(count) }
        let counts = Set(values.map(\.count))
        #expect(counts == [count])
        // Eight values of 12 bytes are distinct, unless the generator repeats itself.
        #expect(count < 12 || Set(values).count == 8)
    }

    @Test("Every bit of random bytes is set in some and unset in others", arguments: [32, 300])
    func usesEveryBit(count: Int) {
        let values = (0..<64).map { _ in RandomBytes.next(count) }
        for index in 0..<count {
            let (all, any) = values.reduce((UInt8.max, UInt8.min)) { ($0.0 & $1[index], $0.1 | $1[index]) }
            #expect(all == 0 && any == .max, "byte \(index)")
        }
    }
}
