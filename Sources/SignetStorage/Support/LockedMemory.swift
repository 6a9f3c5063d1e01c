import Foundation
import SignetCore

extension Secret {
    /// Keeps the memory of the secret out of the swap space until the process ends (mlock(2)).
    ///
    /// Returns false when the system refuses, because the limit of locked memory is reached.
    func lockInMemory() -> Bool {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return mlock(start, bytes.count) == 0
        }
    }
}
